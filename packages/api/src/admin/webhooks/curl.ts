import type { SignatureOptions } from '@millrace/triggers';

/**
 * A POSIX shell command that calls a webhook. If calls must be signed, it signs with openssl, using the secret that the user puts into its
 * first line: the service never reveals secrets.
 */
export function curlOf(url: string, body: string, signature: SignatureOptions | null): string {
  const call = `curl -X POST ${quote(url)} -H 'Content-Type: application/json'`;
  if (signature === null) return `${call} --data-raw ${quote(body)}`;
  const scheme = schemeOf(signature, url);
  if (scheme === null) return `${call}${carried(signature)} --data-raw ${quote(body)}`;
  const { signed, headers, ...how } = scheme;
  return [
    `secret='put the secret here'`,
    `body=${quote(body)}`,
    `id=msg_$(date +%s)`,
    `time=$(date +%s)`,
    `signature=$(printf '%s' "${signed}" | ${hmacOf(how)})`,
    `${call} ${headers.map((header) => `-H ${header}`).join(' ')} --data-raw "$body"`,
  ]
    .filter((line) => !line.startsWith('id=') || signed.includes('$id'))
    .filter((line) => !line.startsWith('time=') || `${signed}${headers.join('')}`.includes('$time'))
    .join('\n');
}

interface SigningScheme {
  /** What is signed, including shell variables. */
  readonly signed: string;
  /** Shell words. */
  readonly headers: readonly string[];
  readonly algorithm: 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64';
  /** Whether the secret is base64. */
  readonly isBase64: boolean;
}

/** The signature that claims.ts checks; null if the command can't sign: nothing is signed, or the scheme needs a private key or the calling service itself. */
function schemeOf(options: SignatureOptions, url: string): SigningScheme | null {
  const plain = { algorithm: 'sha256', encoding: 'hex', isBase64: false } as const;
  switch (options.preset) {
    case 'github':
    case 'meta':
      return { ...plain, signed: '$body', headers: ['"X-Hub-Signature-256: sha256=$signature"'] };
    case 'slack':
      return {
        ...plain,
        signed: 'v0:$time:$body',
        headers: ['"X-Slack-Request-Timestamp: $time"', '"X-Slack-Signature: v0=$signature"'],
      };
    case 'stripe':
      return { ...plain, signed: '$time.$body', headers: ['"Stripe-Signature: t=$time,v1=$signature"'] };
    case 'standard_webhooks':
      return {
        signed: '$id.$time.$body',
        headers: ['"webhook-id: $id"', '"webhook-timestamp: $time"', '"webhook-signature: v1,$signature"'],
        algorithm: 'sha256',
        encoding: 'base64',
        isBase64: true,
      };
    case 'zoom':
      return {
        ...plain,
        signed: 'v0:$time:$body',
        headers: ['"x-zm-request-timestamp: $time"', '"x-zm-signature: v0=$signature"'],
      };
    case 'paddle':
      return { ...plain, signed: '$time:$body', headers: ['"Paddle-Signature: ts=$time;h1=$signature"'] };
    case 'zendesk':
      return {
        ...plain,
        signed: '$time$body',
        encoding: 'base64',
        headers: [
          '"X-Zendesk-Webhook-Signature-Timestamp: $time"',
          '"X-Zendesk-Webhook-Signature: $signature"',
        ],
      };
    case 'hubspot':
      return {
        ...plain,
        signed: `POST${url}$body$time`,
        encoding: 'base64',
        headers: ['"X-HubSpot-Request-Timestamp: $time"', '"X-HubSpot-Signature-v3: $signature"'],
      };
    case 'square':
      return {
        ...plain,
        signed: `${url}$body`,
        encoding: 'base64',
        headers: ['"X-Square-Hmacsha256-Signature: $signature"'],
      };
    case 'hmac':
      return plainScheme(options);
    default:
      return null;
  }
}

/** What a call carries instead of a signature, with a placeholder for the secret. */
function carried({ preset, username, location, name, prefix }: SignatureOptions): string {
  const header = (header: string, before = '') => ` -H ${quote(`${header}: ${before}put the secret here`)}`;
  switch (preset) {
    case 'basic':
      return ` -u ${quote(`${username}:put the secret here`)}`;
    case 'gitlab':
      return header('X-Gitlab-Token');
    case 'telegram':
      return header('X-Telegram-Bot-Api-Secret-Token');
    case 'token':
      return location === 'header'
        ? header(name, prefix)
        : ` --url-query ${quote(`${name}=put the secret here`)}`;
    case 'jwt_secret':
    case 'jwt_public_key':
    case 'jwt_jwks':
      return ` -H ${quote('Authorization: Bearer put the JWT here')}`;
    default:
      return '';
  }
}

function plainScheme({
  header,
  prefix,
  algorithm,
  encoding,
  timestamp_header: timeHeader,
  signed,
}: SignatureOptions): SigningScheme {
  const hasTime = timeHeader !== '';
  return {
    signed: { body: '$body', 'timestamp.body': '$time.$body', timestamp_body: '$time$body' }[
      hasTime ? signed : 'body'
    ],
    headers: [
      `${quote(`${header}: ${prefix}`)}"$signature"`,
      ...(hasTime ? [`${quote(`${timeHeader}: `)}"$time"`] : []),
    ],
    algorithm,
    encoding,
    isBase64: false,
  };
}

function hmacOf({ algorithm, encoding, isBase64 }: Omit<SigningScheme, 'signed' | 'headers'>): string {
  const hexKey = `$(printf '%s' "\${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')`;
  const key = isBase64 ? `-mac HMAC -macopt hexkey:${hexKey}` : '-hmac "$secret"';
  const end = encoding === 'hex' ? "-hex | sed 's/^.* //'" : '-binary | openssl base64 -A';
  return `openssl dgst -${algorithm} ${key} ${end}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
