import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyReply } from 'fastify';

const WINDOW_MS = 60_000;
/**
 * Keys, webhooks or addresses counted at once, to bound memory. Another one is refused until an old one expires: forgetting one that still
 * counts would allow a caller with many names unlimited attempts.
 */
const MAX_COUNTED = 50_000;

interface Counter {
  windowStart: number;
  current: number;
  previous: number;
}

/** A limiter's decision on one more request. Seconds are whole and rounded up. */
export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the current window ends; if refused, until a request is accepted again. */
  readonly resetSeconds: number;
}

export interface TakeOptions {
  /** Replaces the limiter's limit for this caller. */
  readonly limit?: number;
  /** How many requests are counted together; 1 by default. */
  readonly count?: number;
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/**
 * Counts requests of many callers against a limit per minute, in a sliding window over the last minute: requests of the current minute plus the share of the previous minute that is still within the last
 * 60 seconds. Limits are per process.
 * @param common requests per minute; 0 disables the limit
 * @param now monotonic milliseconds
 */
export function createRateLimiter(common: number, now: () => number = () => performance.now()) {
  const counters = new Map<string, Counter>();

  /** Null: no room for another counter. */
  function counterOf(caller: string, at: number): Counter | null {
    const counter = counters.get(caller) ?? { windowStart: at, current: 0, previous: 0 };
    // The least recently seen comes first.
    const isOver = ({ windowStart }: Counter) => at - windowStart >= 2 * WINDOW_MS;
    if (!counters.delete(caller) && !makeRoom(counters, isOver)) return null;
    counters.set(caller, counter);
    const windows = Math.floor((at - counter.windowStart) / WINDOW_MS);
    if (windows > 0) {
      counter.previous = windows === 1 ? counter.current : 0;
      counter.current = 0;
      counter.windowStart += windows * WINDOW_MS;
    }
    return counter;
  }

  return {
    limit: common,
    /** Stops counting a made-up caller, to leave the room for others. */
    forget: (caller: string): void => void counters.delete(caller),
    /**
     * Counts requests of `caller` unless they are over the limit; null if the limit is off. More than the limit are
     * allowed when none was counted before, and use it up: otherwise they never would be.
     */
    take(caller: string, { limit = common, count: asked = 1 }: TakeOptions = {}): RateDecision | null {
      if (limit === 0 || asked === 0) return null;
      const count = Math.min(asked, limit);
      const at = now();
      const counter = counterOf(caller, at);
      if (counter === null) return { allowed: false, limit, remaining: 0, resetSeconds: WINDOW_MS / 1000 };
      const elapsed = at - counter.windowStart;
      const used = counter.previous * (1 - elapsed / WINDOW_MS) + counter.current;
      if (used + count > limit) return refused(counter, limit, elapsed, count);
      counter.current += count;
      return {
        allowed: true,
        limit,
        remaining: Math.floor(limit - used - count),
        resetSeconds: Math.ceil((WINDOW_MS - elapsed) / 1000),
      };
    },
  };
}

function refused(counter: Counter, limit: number, elapsed: number, count: number): RateDecision {
  // The previous minute's share shrinks linearly; solved for the moment at which the requests fit.
  const waitMs =
    counter.current + count <= limit
      ? WINDOW_MS * (1 - (limit - counter.current - count) / counter.previous) - elapsed
      : WINDOW_MS - elapsed + WINDOW_MS * (1 - (limit - count) / counter.current);
  return { allowed: false, limit, remaining: 0, resetSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
}

/** Forgets the least recently seen caller if none of its counts matter any longer. False: no room. */
export function makeRoom<Count>(counts: Map<string, Count>, isOver: (first: Count) => boolean): boolean {
  if (counts.size < MAX_COUNTED) return true;
  const [first] = counts;
  return first !== undefined && isOver(first[1]) && counts.delete(first[0]);
}

/** The headers that {@link applyRateLimit} sets. */
export const RATE_LIMIT_HEADERS = ['ratelimit-policy', 'ratelimit'] as const;

/**
 * Sets `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers) on the response.
 * @param policy the policy's name in both headers
 * @param options the caller's own limit, and how many requests are counted
 * @throws ApiError `rate_limited` with Retry-After
 */
export function applyRateLimit(
  limiter: RateLimiter,
  policy: string,
  caller: string,
  reply: FastifyReply,
  options?: TakeOptions,
): void {
  const decision = limiter.take(caller, options);
  if (decision === null) return;
  reply.header('ratelimit-policy', `"${policy}";q=${decision.limit};w=${WINDOW_MS / 1000}`);
  reply.header('ratelimit', `"${policy}";r=${decision.remaining};t=${decision.resetSeconds}`);
  if (decision.allowed) return;
  throw new ApiError('rate_limited', message('api.rate_limited', { limit: decision.limit }), {
    headers: { 'retry-after': String(decision.resetSeconds) },
  });
}

/** The address failed authentications are counted under: an IPv6 /64 counts as one source. */
export function sourceOf(ip: string): string {
  if (!ip.includes(':') || ip.startsWith('::ffff:')) return ip;
  const [head = '', tail] = ip.split('::');
  const start = head === '' ? [] : head.split(':');
  const end = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - start.length - end.length) }, () => '0');
  return `${[...start, ...zeros, ...end].slice(0, 4).join(':')}::/64`;
}
