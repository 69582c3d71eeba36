import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { Closed, Id, Nullable } from './forms.ts';

/** What an organisation stores: inputs and node records of executions; entries of `data.store`; content of files. */
export const STORAGE_PARTS = ['executions', 'data', 'files'] as const;

const Bytes = Type.Integer({ minimum: 0 });

export const StoragePart = Closed({
  part: Type.Enum([...STORAGE_PARTS], { type: 'string' }),
  bytes: Bytes,
  /** Null: no limit. */
  limit_bytes: Nullable(Bytes),
});
export type StoragePart = Static<typeof StoragePart>;

export const STORAGE_ENDPOINTS = {
  'GET /system/storage': {
    access: 'system_admin',
    summary: 'The organisations that store the most',
    response: Closed({
      items: Type.Array(
        Closed({ organisation: Closed({ id: Id, name: Type.String() }), parts: Type.Array(StoragePart) }),
      ),
    }),
  },
  'GET /orgs/:org/storage': {
    access: 'viewer',
    summary: 'What the organisation stores, and how much it may',
    response: Closed({ parts: Type.Array(StoragePart) }),
  },
} as const satisfies Endpoints;
