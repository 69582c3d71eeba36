import { BlockList, isIP } from 'node:net';

/** A host as in a URL: lower case, no brackets, no trailing dot; an IP in its normal form. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** What the operator allows beyond the public internet. */
export interface AllowRules {
  /** Whether an entry names this host; it may then resolve to any address. */
  allowsHost(target: Target): boolean;
  /** Whether an entry names this address or its network. */
  allowsAddress(address: string, port: number): boolean;
}

type Rule =
  | { readonly kind: 'host'; readonly host: string; readonly port: number | null }
  | { readonly kind: 'suffix'; readonly suffix: string; readonly port: number | null }
  | {
      readonly kind: 'network';
      readonly list: BlockList;
      readonly family: 4 | 6;
      readonly port: number | null;
    };

/**
 * Reads entries of MILLRACE_ALLOW_HOSTS: `host`, `host:port`, `*.suffix`, an IP (`10.0.0.5`, `[fd00::5]:8080`) or a network (`10.0.0.0/8`).
 * `problems` lists the entries that can't be parsed; those allow nothing.
 */
export function parseAllowHosts(entries: readonly string[]): {
  rules: AllowRules;
  problems: readonly string[];
} {
  const rules: Rule[] = [];
  const problems: string[] = [];
  for (const entry of entries) {
    const rule = parseRule(entry.trim().toLowerCase());
    if (rule !== undefined) rules.push(rule);
    else problems.push(problemWith(entry));
  }
  return {
    problems,
    rules: {
      allowsHost: (target) => rules.some((rule) => matchesHost(rule, target)),
      allowsAddress: (address, port) => rules.some((rule) => matchesAddress(rule, address, port)),
    },
  };
}

/** The target of a URL with a host. */
export function targetOf(url: URL): Target {
  const defaultPort = url.protocol === 'https:' ? 443 : 80;
  return { host: normaliseHost(url.hostname), port: url.port === '' ? defaultPort : Number(url.port) };
}

/** A host as URLs write it, and texts in which a port follows: an IPv6 address in brackets. */
export function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** A host name as it is compared: without brackets, capitals and final dots. */
export function normaliseHost(hostname: string): string {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return bare.toLowerCase().replace(/\.+$/, '');
}

function problemWith(entry: string): string {
  return `MILLRACE_ALLOW_HOSTS: ${JSON.stringify(entry)} is not a host, host:port, *.suffix, IP address or network such as 10.0.0.0/8. Give names without https:// and path.`;
}

function parseRule(entry: string): Rule | undefined {
  if (entry.includes('/')) return parseNetwork(entry);
  if (isIP(entry) === 6) return addressRule(entry, null);
  const match = /^(\*\.)?(\[[^\]]+\]|[^:[\]*]+)(?::(\d{1,5}))?$/.exec(entry);
  if (match === null) return undefined;
  const [, wildcard, name = '', portText] = match;
  const port = portText === undefined ? null : Number(portText);
  if (port !== null && (port < 1 || port > 65_535)) return undefined;
  // The URL parser normalises names and IPs to the form in which targets are compared.
  const url = URL.parse(`http://${name}/`);
  if (url === null || url.pathname !== '/' || url.username !== '' || url.search !== '' || url.hash !== '') {
    return undefined;
  }
  const host = normaliseHost(url.hostname);
  if (host === '') return undefined;
  if (isIP(host) !== 0) return wildcard === undefined ? addressRule(host, port) : undefined;
  return wildcard === undefined ? { kind: 'host', host, port } : { kind: 'suffix', suffix: `.${host}`, port };
}

function parseNetwork(entry: string): Rule | undefined {
  const [network = '', prefixText = '', ...rest] = entry.split('/');
  const prefix = Number(prefixText);
  if (rest.length > 0 || !/^\d{1,3}$/.test(prefixText)) return undefined;
  return networkRule(network, prefix, null);
}

function addressRule(address: string, port: number | null): Rule | undefined {
  return networkRule(address, isIP(address) === 6 ? 128 : 32, port);
}

function networkRule(network: string, prefix: number, port: number | null): Rule | undefined {
  const family = isIP(network);
  if (family !== 4 && family !== 6) return undefined;
  if (prefix > (family === 4 ? 32 : 128)) return undefined;
  const list = new BlockList();
  list.addSubnet(network, prefix, family === 4 ? 'ipv4' : 'ipv6');
  return { kind: 'network', list, family, port };
}

function matchesHost(rule: Rule, { host, port }: Target): boolean {
  if (rule.port !== null && rule.port !== port) return false;
  switch (rule.kind) {
    case 'host':
      return rule.host === host;
    case 'suffix':
      return host.endsWith(rule.suffix) && isIP(host) === 0;
    case 'network':
      return false;
  }
}

function matchesAddress(rule: Rule, address: string, port: number): boolean {
  if (rule.kind !== 'network' || rule.family !== isIP(address)) return false;
  if (rule.port !== null && rule.port !== port) return false;
  return rule.list.check(address, rule.family === 4 ? 'ipv4' : 'ipv6');
}
