import { HTTP_CREDENTIAL_TYPES, type JsonObject, type JsonValue } from '@millrace/engine';
import { type Static, Type } from 'typebox';
import { choice } from '../choice.ts';
import { credentialProperty } from '../credential-property.ts';
import type { FormLayout } from '../define.ts';

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export const MAX_TIMEOUT_MS = 300_000;
export const MAX_REDIRECTS = 5;
const MIB = 1024 * 1024;

const secret = (title: string, description: string, marks: { readonly 'x-filled'?: true } = {}) =>
  Type.String({ title, description, default: '', ...marks });
const FILLED = { 'x-filled': true } as const;

const authSchema = Type.Union(
  [
    Type.Object(
      { type: Type.Literal('none', { title: 'None', description: 'No authentication.', default: 'none' }) },
      closed(),
    ),
    Type.Object(
      {
        type: Type.Literal('basic', {
          title: 'Basic',
          description: 'User name and password.',
          default: 'basic',
        }),
        username: secret('User name', "Can't contain a colon.", FILLED),
        password: secret('Password', 'May be empty.'),
      },
      closed(),
    ),
    Type.Object(
      {
        type: Type.Literal('bearer', { title: 'Bearer', description: 'A token.', default: 'bearer' }),
        token: secret('Token', 'Sent as Authorization: Bearer.', FILLED),
      },
      closed(),
    ),
    Type.Object(
      {
        type: Type.Literal('header', {
          title: 'Header',
          description: 'A custom header.',
          default: 'header',
        }),
        name: secret('Header name', 'For example X-Api-Key.', FILLED),
        value: secret('Header value', 'The secret value.', FILLED),
      },
      closed(),
    ),
    Type.Object(
      {
        type: Type.Literal('credential', {
          title: 'Credential',
          description: 'A credential, which is stored encrypted.',
          default: 'credential',
        }),
        credential_id: credentialProperty(
          HTTP_CREDENTIAL_TYPES,
          'Credential',
          'Only sent to the hosts that the credential allows.',
        ),
      },
      closed(),
    ),
  ],
  {
    title: 'Authentication',
    description:
      "Never sent to another origin when redirected. Keep secrets in a credential: everyone who can read the workflow sees what's here.",
    default: { type: 'none' },
  },
);

export type Auth = Static<typeof authSchema>;

/** A status, or a range of statuses such as `200-299`. */
const statusSchema = Type.Union([
  Type.Integer({ minimum: 100, maximum: 599 }),
  Type.String({ pattern: '^[1-5][0-9]{2}(-[1-5][0-9]{2})?$' }),
]);

/** The settings of http.request, as the editor shows them. */
export const httpProperties = {
  method: Type.Unsafe<(typeof METHODS)[number]>({
    type: 'string',
    enum: METHODS,
    title: 'Method',
    description: 'HEAD has no body. In test mode, only GET is sent.',
    default: 'GET',
  }),
  url: Type.String({
    title: 'URL',
    description: 'Absolute, http or https, without user name or password.',
    default: '',
    'x-placeholder': 'https://api.example.com/orders',
    'x-filled': true,
    'x-url': true,
  }),
  headers: Type.Unsafe<JsonObject>({
    type: 'object',
    title: 'Headers',
    description:
      'Names and values. A template that finds nothing leaves its header out. The service sets Host, Content-Length, Transfer-Encoding, Connection and similar headers.',
    default: {},
  }),
  query: Type.Unsafe<JsonObject>({
    type: 'object',
    title: 'Query parameters',
    description: 'Added to the URL. A list repeats the name; a template that finds nothing leaves it out.',
    default: {},
  }),
  body: Type.Unsafe<JsonValue>({
    title: 'Body',
    description: 'What is sent, in the format below. Empty: no body.',
    default: null,
  }),
  body_type: choice(
    'Body type',
    'JSON: any value, as application/json. Text: as it is. Form: fields, as application/x-www-form-urlencoded. File: the content of a file. Multipart: fields with texts and files, as multipart/form-data.',
    { json: 'JSON', text: 'Text', form: 'Form', file: 'File', multipart: 'Multipart' },
    { default: 'json' },
  ),
  auth: authSchema,
  timeout_ms: Type.Integer({
    title: 'Timeout',
    description: 'Time limit for the whole exchange in milliseconds, including redirects.',
    minimum: 1,
    maximum: MAX_TIMEOUT_MS,
    default: 30_000,
  }),
  max_response_bytes: Type.Integer({
    title: 'Maximum response size',
    description:
      'Maximum size of the response body in bytes, after decompression. Files have a limit of their own.',
    minimum: 1,
    maximum: 16 * MIB,
    default: MIB,
  }),
  follow_redirects: Type.Boolean({
    title: 'Follow redirects',
    description: `Up to ${MAX_REDIRECTS}. To another origin only with GET or HEAD and without credentials.`,
    default: true,
  }),
  response_type: choice(
    'Response type',
    'How to read the response body. Automatic: as JSON, text or base64, depending on its type. File: stored as a file of any size.',
    { auto: 'Automatic', json: 'JSON', text: 'Text', base64: 'Base64', file: 'File' },
    { default: 'auto' },
  ),
  success_statuses: Type.Array(statusSchema, {
    title: 'Success statuses',
    description:
      'Statuses and ranges. Any other fails with http_status. 408, 425, 429 and 5xx can be retried, and Retry-After is respected.',
    minItems: 1,
    maxItems: 100,
    default: ['200-399'],
  }),
};

/** How the settings of a request are shown, also within other nodes. */
export const httpForm: FormLayout<keyof typeof httpProperties> = {
  main: ['method', 'url', 'auth', 'headers', 'query', 'body', 'body_type'],
  sections: [
    { title: 'Response', fields: ['response_type', 'success_statuses', 'follow_redirects'] },
    { title: 'Limits', fields: ['timeout_ms', 'max_response_bytes'] },
  ],
};

type Configured = Static<ReturnType<typeof Type.Object<typeof httpProperties>>>;
/** What a request is made from: settings of a node, or what a connector's file says. */
export type HttpConfig = Omit<Configured, 'body_type'> & {
  /** `related`, of connectors only: JSON and files as multipart/related (RFC 2387), in the order of the fields. */
  readonly body_type: Configured['body_type'] | 'related';
};

function closed(): { additionalProperties: false } {
  return { additionalProperties: false };
}
