import { isIP } from 'node:net';
import { bracketed, normaliseHost } from '@millrace/egress/allow-hosts';

/** Where a credential may be sent. `port` null means any. */
type Binding =
  | { readonly kind: 'any' }
  | { readonly kind: 'host'; readonly host: string; readonly port: string | null }
  | { readonly kind: 'below'; readonly suffix: string; readonly port: string | null };

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * The normalised spelling of a host a credential is bound to: `api.example.com`, `api.example.com:8443`, `*.example.com`
 * (all subdomains, not itself), `10.0.0.5`, `[fd00::5]:8080`, or `*` for every host.
 * @returns undefined if it is none of these
 */
export function normaliseBoundHost(text: string): string | undefined {
  const binding = parseBinding(text);
  if (binding === undefined) return undefined;
  if (binding.kind === 'any') return '*';
  const name = binding.kind === 'below' ? `*${binding.suffix}` : bracketed(binding.host);
  return binding.port === null ? name : `${name}:${binding.port}`;
}

/** Whether a credential bound to these hosts may be sent to the URL. */
export function allowsUrl(hosts: readonly string[], url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed === null) return false;
  const host = normaliseHost(parsed.hostname);
  const port = parsed.port === '' ? DEFAULT_PORTS[parsed.protocol] : parsed.port;
  if (host === '' || port === undefined) return false;
  return hosts.some((text) => {
    const binding = parseBinding(text);
    if (binding === undefined) return false;
    if (binding.kind === 'any') return true;
    if (binding.port !== null && binding.port !== port) return false;
    return binding.kind === 'host'
      ? binding.host === host
      : isIP(host) === 0 && host.endsWith(binding.suffix) && host.length > binding.suffix.length;
  });
}

function parseBinding(text: string): Binding | undefined {
  const entry = text.trim().toLowerCase();
  if (entry === '*') return { kind: 'any' };
  const match = /^(\*\.)?(\[[0-9a-f:.]+\]|[^\s:/?#@[\]*\\%]+)(?::(\d{1,5}))?$/.exec(bracketed(entry));
  if (match === null) return undefined;
  const [, wildcard, name = '', port = null] = match;
  if (port !== null && (Number(port) < 1 || Number(port) > 65_535)) return undefined;
  // The URL parser normalises names and addresses to the form sent in requests.
  const url = URL.parse(`https://${name}/`);
  const host = normaliseHost(url?.hostname ?? '');
  if (host === '' || (wildcard !== undefined && isIP(host) !== 0)) return undefined;
  const normalPort = port === null ? null : String(Number(port));
  return wildcard === undefined
    ? { kind: 'host', host, port: normalPort }
    : { kind: 'below', suffix: `.${host}`, port: normalPort };
}
