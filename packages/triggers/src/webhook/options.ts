import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { defaultsOf } from '@millrace/node-kit/defaults-of';
import { validatorOf } from '@millrace/node-kit/validator';
import { type Static, Type } from 'typebox';
import { type ChallengeOptions, challengeSchema } from './challenge.ts';
import { signatureSchema } from './checks.ts';
import { type RequestOptions, requestProperties } from './request.ts';

/** Maximum time a caller waits for a response, in seconds. */
export const MAX_RESPOND_S = 30;
const MAX_WINDOW_S = 604_800;

const deduplicateSchema = Type.Object(
  {
    by: choice(
      'Location of the ID',
      'In the body, in a header or in the query.',
      { path: 'Body', header: 'Header', query: 'Query' },
      { default: 'path' },
    ),
    name: Type.String({
      title: 'Path or name',
      description: 'The path in the body, such as id or event.id, or the name of the header or parameter.',
      minLength: 1,
      maxLength: 255,
      default: 'id',
    }),
    window_s: Type.Optional(
      Type.Integer({
        title: 'Window in seconds',
        description: 'How long an event is remembered, at most seven days.',
        minimum: 1,
        maximum: MAX_WINDOW_S,
        default: 86_400,
      }),
    ),
    missing: Type.Optional(
      choice(
        'Without an ID',
        'What to do with a call without an ID: start an execution, or refuse it with 422.',
        { start: 'Start', refuse: 'Refuse' },
        { default: 'start' },
      ),
    ),
  },
  { additionalProperties: false },
);

const responseSchema = Type.Object(
  {
    status: Type.Optional(
      Type.Integer({
        title: 'Status',
        description: 'HTTP status of the response.',
        minimum: 200,
        maximum: 599,
        default: 200,
      }),
    ),
    headers: Type.Optional(
      Type.Unsafe<{ readonly [name: string]: string }>({
        type: 'object',
        additionalProperties: { type: 'string' },
        maxProperties: 50,
        title: 'Headers',
        description: 'Names and values.',
        default: {},
      }),
    ),
    body: Type.Optional(
      Type.Unsafe<JsonValue>({
        title: 'Body',
        description: 'Text is sent as text/plain, anything else as JSON. Empty: no body.',
        default: null,
      }),
    ),
  },
  { additionalProperties: false },
);

/** Settings of the webhook trigger, all optional. */
export const webhookProperties = {
  ...requestProperties,
  signature: Type.Union([signatureSchema, Type.Null()], {
    title: 'Check',
    description: 'How calls prove who they come from; all others are refused with 401.',
    default: null,
  }),
  challenge: Type.Union([challengeSchema, Type.Null()], {
    title: 'Challenges',
    description:
      'What a service sends to find out whether the URL is yours. It is answered at once and starts nothing.',
    default: null,
  }),
  deduplicate: Type.Union([deduplicateSchema, Type.Null()], {
    title: 'Deduplication',
    description: 'A call whose ID was seen before starts nothing and returns the first execution.',
    default: null,
  }),
  ip_allow_list: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    title: 'Allowed addresses',
    description:
      'IP addresses and networks that may call, such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32. Empty: all.',
    maxItems: 200,
    default: [],
  }),
  respond: choice(
    'When to answer',
    'Respond immediately with a receipt, with your own response when the execution has finished, or with that of the first Respond to webhook node that it reaches.',
    { immediately: 'Immediately', when_done: 'When it has finished', by_node: 'By a node' },
    { default: 'immediately' },
  ),
  response: Type.Unsafe<Static<typeof responseSchema>>({
    ...responseSchema,
    title: 'Response',
    'x-when': { respond: ['when_done'] },
    description: 'What the caller gets. Its templates can read the output of every node.',
    default: { status: 200, headers: {}, body: null },
  }),
  timeout_s: Type.Integer({
    title: 'Maximum wait in seconds',
    'x-when': { respond: ['when_done', 'by_node'] },
    description: 'If the execution takes longer, the caller gets the receipt and the execution continues.',
    minimum: 1,
    maximum: MAX_RESPOND_S,
    default: MAX_RESPOND_S,
  }),
  failure_status: Type.Integer({
    title: 'Failure status',
    'x-when': { respond: ['when_done', 'by_node'] },
    description: 'The HTTP status if the execution fails or is cancelled.',
    minimum: 400,
    maximum: 599,
    default: 500,
  }),
};

/** How the signature of a call is verified, with all defaults filled in. */
export type SignatureOptions = Required<Static<typeof signatureSchema>>;
export type DeduplicateOptions = Required<Static<typeof deduplicateSchema>>;

/** The settings of a webhook trigger with all defaults filled in, without the response, which is rendered later. */
export interface WebhookOptions extends RequestOptions {
  readonly body: 'json' | 'any' | 'raw' | 'files';
  readonly signature: SignatureOptions | null;
  readonly challenge: ChallengeOptions | null;
  readonly deduplicate: DeduplicateOptions | null;
  readonly ip_allow_list: readonly string[];
  readonly respond: 'immediately' | 'when_done' | 'by_node';
  readonly timeout_s: number;
  readonly failure_status: number;
}

/** The response to a call. */
export type WebhookResponse = Required<Static<typeof responseSchema>>;

const { response: _rendered, ...checked } = webhookProperties;
const optionsValidator = validatorOf(Type.Object(checked, { additionalProperties: false }));
const responseValidator = validatorOf(responseSchema);

/** A webhook trigger's config with defaults filled in; null when it doesn't match the schema. */
export function readWebhookOptions(config: JsonObject): WebhookOptions | null {
  const { response, ...given } = config;
  const complete: unknown = { ...defaultsOf(checked), ...given };
  if (!optionsValidator().Check(complete)) return null;
  const { signature, challenge, deduplicate } = complete;
  return {
    ...complete,
    challenge: challenge && { credential_id: 0, ...challenge },
    signature: signature && ({ ...defaultsOf(signatureSchema.properties), ...signature } as SignatureOptions),
    deduplicate:
      deduplicate && ({ ...defaultsOf(deduplicateSchema.properties), ...deduplicate } as DeduplicateOptions),
  };
}

/** A rendered response with defaults filled in; null when it is invalid. A status may be a string of digits. */
export function readWebhookResponse(value: JsonValue): WebhookResponse | null {
  if (!isJsonObject(value)) return null;
  const { status, headers } = value;
  const complete: unknown = {
    ...defaultsOf(responseSchema.properties),
    ...value,
    ...(typeof status === 'string' && /^\d{3}$/.test(status) ? { status: Number(status) } : {}),
    ...(isJsonObject(headers) ? { headers: textMembers(headers) } : {}),
  };
  return responseValidator().Check(complete) ? (complete as WebhookResponse) : null;
}

/** A template may produce a number for a header; null is dropped. */
function textMembers(headers: JsonObject): JsonObject {
  const members = Object.entries(headers).filter(([, value]) => value !== null);
  return Object.fromEntries(
    members.map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  );
}
