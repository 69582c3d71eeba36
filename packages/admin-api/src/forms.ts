import type { Flow, JsonObject, JsonValue } from '@millrace/engine';
import type { MessageKey, MessageParams } from '@millrace/messages';
import { type Static, type TSchema, Type } from 'typebox';
import { ROLES } from './roles.ts';

/** RFC 3339 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' });
/** Larger values exceed a double's exact integers and the range of database ids. */
export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
/** Of a saved version. */
export const VersionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
/** A counter starting at 0. */
export const Revision = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const RoleName = Type.Enum([...ROLES], { type: 'string' });
export const AnyJson = Type.Unsafe<JsonValue>({});
export const AnyObject = Type.Unsafe<JsonObject>({ type: 'object' });
/** `flow_data` in a response. In a request it is {@link AnyObject} until the service has checked its structure. */
export const FlowData = Type.Unsafe<Flow>({ type: 'object' });

export function Nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

/** A closed object: an unknown member is refused in requests and a bug in responses. */
export function Closed<P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

/** One page of a list, newest first, without a total count. */
export function PageOf<S extends TSchema>(item: S) {
  return Closed({ items: Type.Array(item), next_cursor: Nullable(Type.String()) });
}

/** Query parameters of paginated lists. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  cursor: Type.Optional(Type.String({ maxLength: 1_000 })),
};

/** Accompanies an English sentence: key and parameters, so that the page can render it in the reader's language. */
export const explanation = {
  key: Type.Unsafe<MessageKey>({ type: 'string' }),
  params: Type.Unsafe<MessageParams>({ type: 'object' }),
};

/** An English sentence with what the page needs to render it in the reader's language. */
export const Sentence = Closed({ message: Type.String(), ...explanation });

/** The body of an error response (RFC 9457, `application/problem+json`). */
export const Problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  ...explanation,
  code: Type.String(),
  request_id: Type.String(),
  errors: Type.Optional(
    Type.Array(
      Type.Object({
        pointer: Type.String(),
        field: Type.String(),
        code: Type.String(),
        message: Type.String(),
        ...explanation,
      }),
    ),
  ),
});
export type Problem = Static<typeof Problem>;
