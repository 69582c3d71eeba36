import type { SignatureOptions } from '@millrace/nodes';

/**
 * A POSIX shell command that calls a webhook. If calls must be signed, it signs with openssl, using the secret that the user puts into its
 * first line: the service never reveals secrets.
 */
export function curlOf(url: string, body: string, signature: SignatureOptions | null): string {
  const call = `curl -X POST ${quote(url)} -H 'Content-Type: application/json'`;
  if (signature === null) return `${call} --data-raw ${quote(body)}`;
  const { signed, headers, ...how } = wayOf(signature);
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

interface Way {
  /** What is signed, including shell variables. */
  readonly signed: string;
  /** Shell words. */
  readonly headers: readonly string[];
  readonly algorithm: 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64';
  /** Whether the secret is base64. */
  readonly isBase64: boolean;
}

/** As signature.ts reads it. */
function wayOf(options: SignatureOptions): Way {
  const plain = { algorithm: 'sha256', encoding: 'hex', isBase64: false } as const;
  switch (options.preset) {
    case 'github':
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
    case 'hmac':
      return plainWay(options);
  }
}

function plainWay({
  header,
  prefix,
  algorithm,
  encoding,
  timestamp_header: timeHeader,
  signed,
}: SignatureOptions): Way {
  const hasTime = timeHeader !== '';
  return {
    signed: hasTime && signed === 'timestamp.body' ? '$time.$body' : '$body',
    headers: [
      `${quote(`${header}: ${prefix}`)}"$signature"`,
      ...(hasTime ? [`${quote(`${timeHeader}: `)}"$time"`] : []),
    ],
    algorithm,
    encoding,
    isBase64: false,
  };
}

function hmacOf({ algorithm, encoding, isBase64 }: Omit<Way, 'signed' | 'headers'>): string {
  const hexKey = `$(printf '%s' "\${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')`;
  const key = isBase64 ? `-mac HMAC -macopt hexkey:${hexKey}` : '-hmac "$secret"';
  const end = encoding === 'hex' ? "-hex | sed 's/^.* //'" : '-binary | openssl base64 -A';
  return `openssl dgst -${algorithm} ${key} ${end}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
