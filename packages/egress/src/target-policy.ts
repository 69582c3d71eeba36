import { isIP } from 'node:net';
import { HttpClientError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { isForbiddenAddress } from './addresses.ts';
import { bracketed, parseAllowHosts, type Target, targetOf } from './allow-hosts.ts';

/** Which targets may be called. Checked for the URL, for each address its name resolves to and for the address connected to. */
export interface TargetPolicy {
  /**
   * Parses a URL and refuses what can be refused without a lookup.
   * @throws HttpClientError `invalid_url` or `target_not_allowed`
   */
  checkUrl(text: string | URL): URL;
  /** Undefined when this address may be connected to for this target, else the error with the reason. */
  refuseAddress(target: Target, address: string | undefined): HttpClientError | undefined;
}

/**
 * Allows public addresses, and what the operator allows.
 * @param allowHosts entries of MILLRACE_ALLOW_HOSTS
 * @throws Error when an entry can't be parsed
 */
export function createTargetPolicy(allowHosts: readonly string[]): TargetPolicy {
  const { rules, problems } = parseAllowHosts(allowHosts);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const refuseAddress = (target: Target, address: string | undefined): HttpClientError | undefined => {
    if (address === undefined) return refusal(target);
    const isAllowed =
      !isForbiddenAddress(address) || rules.allowsAddress(address, target.port) || rules.allowsHost(target);
    return isAllowed ? undefined : refusal(target);
  };
  return {
    refuseAddress,
    checkUrl(text) {
      const url = parseHttpUrl(text);
      const target = targetOf(url);
      const refused =
        isIP(target.host) !== 0
          ? refuseAddress(target, target.host)
          : isLocalName(target.host) && !rules.allowsHost(target)
            ? refusal(target)
            : undefined;
      if (refused !== undefined) throw refused;
      return url;
    },
  };
}

function parseHttpUrl(text: string | URL): URL {
  const url = URL.parse(String(text));
  if (url === null) throw new HttpClientError('invalid_url', message('egress.invalid_url'));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new HttpClientError('invalid_url', message('egress.wrong_scheme', { scheme: url.protocol }));
  }
  if (url.username !== '' || url.password !== '') {
    throw new HttpClientError('invalid_url', message('egress.url_with_password', { host: url.hostname }));
  }
  return url;
}

/** RFC 6761: names that mean this machine whatever a resolver returns. */
function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

function refusal({ host, port }: Target): HttpClientError {
  const said = message('egress.private_target', { host: bracketed(host), port });
  return new HttpClientError('target_not_allowed', said);
}
