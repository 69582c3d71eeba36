import {
  type ConfigFault,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  joinPointer,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { templatesIn } from '@millrace/node-kit/values';
import { isDescribed } from './checks.ts';
import { readWebhookOptions, type SignatureOptions, type WebhookOptions } from './options.ts';
import { isSecretName, isWebhookPath } from './request.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Headers a workflow may not set: those of the connection, those that describe the service itself, and those that would give a response
 * power over the service's origin in a browser.
 */
const REFUSED_HEADERS: ReadonlySet<string> = new Set([
  'alt-svc',
  'clear-site-data',
  'connection',
  'content-encoding',
  'content-length',
  'content-security-policy',
  'content-security-policy-report-only',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'date',
  'keep-alive',
  'nel',
  'origin-agent-cluster',
  'permissions-policy',
  'proxy-authenticate',
  'proxy-connection',
  'public-key-pins',
  'ratelimit',
  'ratelimit-policy',
  'referrer-policy',
  'report-to',
  'reporting-endpoints',
  'server',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'set-login',
  'sourcemap',
  'strict-transport-security',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
  'x-content-type-options',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-request-id',
  'x-xss-protection',
]);

/** Why a header isn't allowed in a response, or null when it is. */
export function responseHeaderFault(name: string): Message | null {
  if (!HEADER_NAME.test(name)) return message('nodes.not_a_header');
  return REFUSED_HEADERS.has(name.toLowerCase()) ? message('nodes.header_reserved') : null;
}

/**
 * Faults of a webhook trigger's config that matches the schema: invalid addresses and headers, a signature without its header, a template
 * outside of the response.
 */
export function findWebhookFaults(config: JsonObject): readonly ConfigFault[] {
  const { response, ...fixed } = config;
  const templates = templatesIn(fixed, message('nodes.template_before_run'));
  if (templates.length > 0) return templates;
  const options = readWebhookOptions(config);
  if (options === null) return [];
  const { signature, challenge, deduplicate } = options;
  return [
    ...requestFaults(options),
    ...(challenge?.type === 'zoom' && signature?.preset !== 'zoom'
      ? [{ pointer: '/challenge/type', message: message('nodes.challenge_needs_check', { service: 'Zoom' }) }]
      : []),
    ...(signature === null ? [] : signatureFaults(signature)),
    ...(deduplicate?.by === 'header' && !HEADER_NAME.test(deduplicate.name)
      ? [{ pointer: '/deduplicate/name', message: message('nodes.not_a_header') }]
      : []),
    ...options.ip_allow_list.flatMap((address, index) =>
      isAddressOrNetwork(address)
        ? []
        : [
            {
              pointer: `/ip_allow_list/${index}`,
              message: message('nodes.not_an_ip', { given: address }),
            },
          ],
    ),
    ...responseFaults(response ?? null),
  ];
}

function requestFaults({ path, headers, query }: WebhookOptions): ConfigFault[] {
  const secretIn = (member: string, names: readonly string[]) =>
    names.flatMap((name, index) =>
      isSecretName(name)
        ? [{ pointer: `/${member}/${index}`, message: message('nodes.secret_not_kept', { name }) }]
        : [],
    );
  return [
    ...(isWebhookPath(path) ? [] : [{ pointer: '/path', message: message('nodes.wrong_webhook_path') }]),
    ...headers.flatMap((name, index) =>
      HEADER_NAME.test(name)
        ? []
        : [{ pointer: `/headers/${index}`, message: message('nodes.not_a_header') }],
    ),
    ...secretIn('headers', headers),
    ...secretIn('query', query),
  ];
}

function signatureFaults(signature: SignatureOptions): ConfigFault[] {
  const { preset, public_key: key, jwks_url: url, name, location } = signature;
  if (key !== '' && !isPublicKey(preset, key))
    return [{ pointer: '/signature/public_key', message: message('nodes.wrong_public_key') }];
  if (preset === 'jwt_jwks' && url !== '' && !(URL.canParse(url) && /^https?:/.test(url)))
    return [{ pointer: '/signature/jwks_url', message: message('nodes.not_a_web_address') }];
  if (preset === 'token' && location === 'header' && name !== '' && !HEADER_NAME.test(name))
    return [{ pointer: '/signature/name', message: message('nodes.not_a_header') }];
  if (!isDescribed(preset)) return [];
  const faults: ConfigFault[] = [];
  if (!HEADER_NAME.test(signature.header)) {
    faults.push({ pointer: '/signature/header', message: message('nodes.no_signature_header') });
  }
  if (signature.timestamp_header !== '' && !HEADER_NAME.test(signature.timestamp_header)) {
    faults.push({ pointer: '/signature/timestamp_header', message: message('nodes.not_a_header') });
  }
  if (signature.timestamp_header === '' && signature.signed !== 'body') {
    faults.push({ pointer: '/signature/timestamp_header', message: message('nodes.no_time_header') });
  }
  return faults;
}

/** What the key of a check looks like; whether it is one shows when it is used. */
function isPublicKey(preset: SignatureOptions['preset'], key: string): boolean {
  if (preset === 'discord') return /^[0-9a-f]{64}$/i.test(key.trim());
  if (preset === 'ed25519' || preset === 'standard_webhooks_key')
    return /^(?:(?:whpk_)?[A-Za-z0-9+/]{43,60}={0,2}|[0-9a-f]{64}|-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----)$/i.test(
      key.trim(),
    );
  if (preset === 'sendgrid') return /^[A-Za-z0-9+/]{80,}={0,2}$/.test(key.trim());
  return preset !== 'jwt_public_key' || /^\s*-----BEGIN PUBLIC KEY-----/.test(key);
}

function responseFaults(response: JsonValue): ConfigFault[] {
  const headers = isJsonObject(response) ? (response.headers ?? null) : null;
  if (!isJsonObject(headers)) return [];
  return Object.keys(headers).flatMap((name) => {
    const fault = responseHeaderFault(name);
    return fault === null ? [] : [{ pointer: joinPointer('/response/headers', name), message: fault }];
  });
}

const DECIMAL_BYTE = /^(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])$/;

function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0) return false;
  const family = familyOf(address);
  if (family === null) return false;
  return (
    bits === undefined || (/^(?:0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
  );
}

function familyOf(address: string): 4 | 6 | null {
  const bytes = address.split('.');
  if (bytes.length === 4 && bytes.every((byte) => DECIMAL_BYTE.test(byte))) return 4;
  return /^[0-9A-Fa-f:.]+$/.test(address) && URL.canParse(`http://[${address}]/`) ? 6 : null;
}
