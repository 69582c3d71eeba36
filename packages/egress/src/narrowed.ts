import { isIP } from 'node:net';
import { HttpClientError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { type AllowRules, bracketed, parseAllowHosts, type Target, targetOf } from './allow-hosts.ts';
import type { TargetPolicy } from './target-policy.ts';

/** The hosts that may be called, out of those that the service allows. */
export type NarrowRules = ReturnType<typeof createNarrowRules>;

/**
 * Rules that allow nothing but the entries, which have the format of MILLRACE_ALLOW_HOSTS. The host is matched as written in the URL, so an
 * entry for a network allows literal addresses but no names.
 */
export function createNarrowRules(entries: readonly string[]) {
  // Entries that can't be parsed allow nothing; they were refused when entered.
  const { rules } = parseAllowHosts(entries);
  return {
    /** @throws HttpClientError `target_not_allowed` */
    check(target: Target): void {
      if (!isNamed(rules, target)) throw refusal(target);
    },
  };
}

/** The policy with these additional rules: for the URL and for each redirect. */
export function narrowPolicy(policy: TargetPolicy, rules: NarrowRules): TargetPolicy {
  return {
    refuseAddress: (target, address) => policy.refuseAddress(target, address),
    checkUrl(text) {
      const url = policy.checkUrl(text);
      rules.check(targetOf(url));
      return url;
    },
  };
}

function isNamed(rules: AllowRules, target: Target): boolean {
  return isIP(target.host) === 0 ? rules.allowsHost(target) : rules.allowsAddress(target.host, target.port);
}

function refusal({ host, port }: Target): HttpClientError {
  const said = message('egress.host_not_allowed', { host: bracketed(host), port });
  return new HttpClientError('target_not_allowed', said);
}
