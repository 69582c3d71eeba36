import { choice } from '@millrace/node-kit/choice';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { Type } from 'typebox';

/**
 * How a call proves who it comes from: the service that signs it, or what it carries. `hmac` is any other sender that signs the body with a
 * shared secret.
 */
const CHECK_LABELS = {
  github: 'GitHub',
  stripe: 'Stripe',
  slack: 'Slack',
  standard_webhooks: 'Standard Webhooks',
  standard_webhooks_key: 'Standard Webhooks with a public key',
  discord: 'Discord',
  gitlab: 'GitLab',
  hubspot: 'HubSpot',
  meta: 'Meta (Facebook, WhatsApp)',
  microsoft: 'Microsoft Graph',
  paddle: 'Paddle',
  sendgrid: 'SendGrid',
  square: 'Square',
  telegram: 'Telegram',
  twilio: 'Twilio',
  zendesk: 'Zendesk',
  zoom: 'Zoom',
  hmac: 'HMAC',
  ed25519: 'Ed25519 (public key)',
  token: 'Token',
  basic: 'User name and password',
  jwt_secret: 'JWT with a secret',
  jwt_public_key: 'JWT with a public key',
  jwt_jwks: 'JWT with a key set (JWKS)',
} as const;

export type CheckPreset = keyof typeof CHECK_LABELS;
const CHECK_PRESETS = Object.keys(CHECK_LABELS) as CheckPreset[];

/** Whose signatures are verified with a public key instead of a shared secret. */
const BY_PUBLIC_KEY = ['discord', 'sendgrid', 'standard_webhooks_key', 'ed25519', 'jwt_public_key'] as const;
/** Whose headers and signed content the settings tell. */
const DESCRIBED: readonly CheckPreset[] = ['hmac', 'ed25519'];
const JWT = ['jwt_secret', 'jwt_public_key', 'jwt_jwks'] as const;
const WITH_SECRET = CHECK_PRESETS.filter(
  (preset) => !([...BY_PUBLIC_KEY, 'jwt_jwks'] as readonly CheckPreset[]).includes(preset),
);
/** Whose signatures contain a time. */
const WITH_TIME = [
  ...['stripe', 'slack', 'standard_webhooks', 'standard_webhooks_key', 'discord', 'hubspot', 'paddle'],
  ...['sendgrid', 'zendesk', 'zoom', ...DESCRIBED, ...JWT],
];
const MAX_TOLERANCE_S = 86_400;

const text = (title: string, description: string, presets: readonly string[], more: object = {}) =>
  Type.Optional(
    Type.String({ title, description, 'x-when': { preset: presets }, maxLength: 500, default: '', ...more }),
  );

/** The check of a webhook's calls. */
export const signatureSchema = Type.Object(
  {
    preset: Type.Unsafe<CheckPreset>({
      type: 'string',
      enum: CHECK_PRESETS,
      title: 'Service or method',
      description:
        'The calling service, HMAC for any other service that signs with a shared secret, or what the calls carry instead of a signature.',
      default: 'github',
      'x-labels': CHECK_LABELS,
    }),
    credential_id: Type.Optional(
      Type.Unsafe<number>({
        ...credentialProperty(
          ['secret'],
          'Secret',
          'Credential of type secret with the key, token or password.',
        ),
        'x-when': { preset: WITH_SECRET },
      }),
    ),
    public_key: text(
      'Public key',
      'As the service shows it: in hexadecimal for Discord, in base64 for SendGrid, as PEM for a JWT, in any of them for Ed25519. Of Standard Webhooks, it begins with whpk_.',
      BY_PUBLIC_KEY,
      { 'x-filled': true, maxLength: 4_000 },
    ),
    jwks_url: text(
      'Address of the key set',
      'Where the issuer publishes its keys, such as https://example.com/.well-known/jwks.json.',
      ['jwt_jwks'],
      { 'x-filled': true, maxLength: 2_000 },
    ),
    issuer: text('Issuer', 'The expected issuer (iss). Empty: anyone with the key.', JWT),
    audience: text('Audience', 'The expected audience (aud). Empty: any.', JWT),
    username: text('User name', 'The password comes from the credential.', ['basic'], { 'x-filled': true }),
    location: Type.Optional(
      choice(
        'Location of the token',
        'In a header or in the query of the address, where proxies may log it.',
        { header: 'Header', query: 'Query' },
        { 'x-when': { preset: ['token'] }, default: 'header' },
      ),
    ),
    name: text('Name', 'The name of the header or query parameter, such as X-Api-Key.', ['token'], {
      'x-filled': true,
      maxLength: 100,
    }),
    previous_credential_id: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
        title: 'Previous secret',
        description: 'A second key that is also accepted while the sender switches to the new one.',
        default: null,
        'x-credential': ['secret'],
        'x-when': { preset: WITH_SECRET },
      }),
    ),
    tolerance_s: Type.Optional(
      Type.Integer({
        title: 'Tolerance in seconds',
        'x-when': { preset: WITH_TIME },
        description: 'How far the time in a signature may differ from the current time.',
        minimum: 1,
        maximum: MAX_TOLERANCE_S,
        default: 300,
      }),
    ),
    header: Type.Optional(
      Type.String({
        title: 'Header',
        'x-when': { preset: DESCRIBED },
        description: 'The header with the signature.',
        maxLength: 100,
        default: '',
      }),
    ),
    prefix: Type.Optional(
      Type.String({
        title: 'Prefix',
        'x-when': { preset: [...DESCRIBED, 'token'] },
        description: 'The text before the signature or token, such as sha256= or Bearer with a space.',
        maxLength: 100,
        default: '',
      }),
    ),
    algorithm: Type.Optional(
      choice(
        'Algorithm',
        'The hash algorithm of the signature.',
        { sha256: 'SHA-256', sha512: 'SHA-512' },
        { 'x-when': { preset: ['hmac'] }, default: 'sha256' },
      ),
    ),
    encoding: Type.Optional(
      choice(
        'Encoding',
        'The encoding of the signature.',
        { hex: 'Hexadecimal', base64: 'Base64' },
        { 'x-when': { preset: DESCRIBED }, default: 'hex' },
      ),
    ),
    timestamp_header: Type.Optional(
      Type.String({
        title: 'Time header',
        'x-when': { preset: DESCRIBED },
        description:
          'The header with the time, in seconds or milliseconds since 1970. Empty if there is none.',
        maxLength: 100,
        default: '',
      }),
    ),
    signed: Type.Optional(
      choice(
        'Signed content',
        'The body alone, or the time and the body, with a full stop between them or with nothing.',
        { body: 'Body', 'timestamp.body': 'Time and body', timestamp_body: 'Time and body, joined' },
        { 'x-when': { preset: DESCRIBED }, default: 'body' },
      ),
    ),
  },
  { additionalProperties: false },
);

/** Whether a check compares with a secret; otherwise it verifies with a public key. */
export function needsSecret(preset: CheckPreset): boolean {
  return WITH_SECRET.includes(preset);
}

/** Whether the settings of a check tell the header of the signature and what is signed. */
export function isDescribed(preset: CheckPreset): boolean {
  return DESCRIBED.includes(preset);
}

/** Whether a check has the public key in its settings. */
export function hasPublicKey(preset: CheckPreset): boolean {
  return (BY_PUBLIC_KEY as readonly CheckPreset[]).includes(preset);
}

/** What calls carry whatever their body is. */
const BESIDE_THE_BODY: readonly CheckPreset[] = ['gitlab', 'telegram', 'token', 'basic', ...JWT];

/** Whether a check reads the body, so that all of it has to be there first. */
export function readsBody(preset: CheckPreset): boolean {
  return !BESIDE_THE_BODY.includes(preset);
}
