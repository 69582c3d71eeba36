import { isIP } from 'node:net';
import { HttpClientError } from '@millrace/engine';
import { isForbiddenAddress } from './addresses.ts';
import { type AllowRules, type Target, targetOf } from './allow-hosts.ts';

/** Who may be called. Asked for the URL, for each address its name resolves to and for the address connected to. */
export interface TargetPolicy {
  /**
   * Reads a URL and refuses what can be refused without a look-up.
   * @throws HttpClientError `invalid_url` or `target_not_allowed`
   */
  checkUrl(text: string | URL): URL;
  /** Undefined when this address may be connected to for this target, else the error that says why not. */
  refuseAddress(target: Target, address: string | undefined): HttpClientError | undefined;
}

/** Public addresses are allowed, and what the operator's rules open. */
export function createTargetPolicy(rules: AllowRules): TargetPolicy {
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
  if (url === null)
    throw new HttpClientError('invalid_url', 'The URL cannot be read. Give an absolute http or https URL.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new HttpClientError(
      'invalid_url',
      `URLs of the kind ${url.protocol} are not called, only http and https.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new HttpClientError(
      'invalid_url',
      `The URL of ${url.hostname} holds a user name or password. Send them as a header.`,
    );
  }
  return url;
}

/** RFC 6761: names that mean this machine whatever a resolver says. */
function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

function refusal({ host, port }: Target): HttpClientError {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return new HttpClientError(
    'target_not_allowed',
    `${name} (port ${port}) is or leads to a private or internal address, which is not called. The operator can allow it by adding ${name} to MILLRACE_ALLOW_HOSTS.`,
  );
}
