import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { type Static, Type } from 'typebox';

const LABELS = {
  slack: 'Slack',
  meta: 'Meta (Facebook, WhatsApp)',
  microsoft: 'Microsoft Graph',
  zoom: 'Zoom',
  discord: 'Discord',
} as const;

const types = Object.keys(LABELS) as (keyof typeof LABELS)[];

/** Which challenges a webhook answers. */
export const challengeSchema = Type.Object(
  {
    type: Type.Unsafe<keyof typeof LABELS>({
      type: 'string',
      enum: types,
      title: 'Service',
      description: 'Whose challenges are answered.',
      default: 'slack',
      'x-labels': LABELS,
    }),
    credential_id: Type.Optional(
      Type.Unsafe<number>({
        ...credentialProperty(
          ['secret'],
          'Verify token',
          'Credential of type secret with the token that you enter at Meta, too.',
        ),
        'x-when': { type: ['meta'] },
      }),
    ),
  },
  { additionalProperties: false },
);

export type ChallengeOptions = Required<Static<typeof challengeSchema>>;

/** A longer one isn't a challenge. */
const MAX_TEXT = 4_096;

/** How a challenge is answered, apart from what takes a secret. */
export type ChallengeAnswer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly body: JsonObject }
  /** With the text if the token is the secret. */
  | { readonly kind: 'if_token'; readonly token: string; readonly text: string }
  /** With the text and its HMAC. */
  | { readonly kind: 'signed'; readonly text: string };

interface ChallengeCall {
  readonly method: string;
  readonly query: URLSearchParams;
}

/** The answer to a challenge that comes without proof; null if the call isn't one. */
export function answerUnproven({ type }: ChallengeOptions, call: ChallengeCall): ChallengeAnswer | null {
  const { method, query } = call;
  if (type === 'microsoft' && method === 'POST') {
    const text = shortText(query.get('validationToken'));
    return text === null ? null : { kind: 'text', text };
  }
  if (type !== 'meta' || method !== 'GET' || query.get('hub.mode') !== 'subscribe') return null;
  const text = shortText(query.get('hub.challenge'));
  return text === null ? null : { kind: 'if_token', token: query.get('hub.verify_token') ?? '', text };
}

/** The answer to a challenge that is checked like every call; null if the call isn't one. */
export function answerProven({ type }: ChallengeOptions, data: JsonValue): ChallengeAnswer | null {
  if (!isJsonObject(data)) return null;
  if (type === 'discord' && data.type === 1) return { kind: 'json', body: { type: 1 } };
  if (type === 'slack' && data.type === 'url_verification') {
    const text = shortText(data.challenge);
    return text === null ? null : { kind: 'text', text };
  }
  if (type !== 'zoom' || data.event !== 'endpoint.url_validation') return null;
  const payload = data.payload ?? null;
  const text = isJsonObject(payload) ? shortText(payload.plainToken) : null;
  // A text with a colon could be what Zoom signs as a call: its HMAC would forge one.
  return text !== null && /^[\w.-]+$/.test(text) ? { kind: 'signed', text } : null;
}

function shortText(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT ? value : null;
}
