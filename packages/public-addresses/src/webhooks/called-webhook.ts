import type { JsonObject } from '@millrace/engine';
import { ApiError, notFound } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { matchPath, type ReceivedRequest } from '@millrace/triggers';
import type { FastifyRequest } from 'fastify';
import type { EarlyBody } from './call-data.ts';
import type { Guard, Reachable } from './guard.ts';

/** What follows the hash in the address of a call. */
const REST = /^\/api\/v1\/webhooks\/[^/?]*\/?([^?]*)(?:\?(.*))?$/s;

export function toReceived({ method, url, headers }: FastifyRequest): ReceivedRequest {
  const [, rest = '', query = ''] = REST.exec(url) ?? [];
  return { method, rest, headers, query: new URLSearchParams(query) };
}

/** The first webhook whose path matches what follows the hash, and the parts of it that have names. */
export function reach(
  reachable: readonly Reachable[],
  { rest }: ReceivedRequest,
): { readonly guard: Guard; readonly params: JsonObject } | null {
  for (const { path, guard } of reachable) {
    const params = matchPath(path, rest);
    if (params !== null) return { guard: guard(), params };
  }
  return null;
}

/** The same whether the webhook doesn't exist, isn't open or has another path; other methods say only what every webhook accepts. */
export function unknownAddress({ method, rest }: ReceivedRequest, body: EarlyBody): unknown {
  if (method !== 'POST' && rest === '') return wrongMethod(['POST']);
  return 'error' in body ? body.error : notFound('webhook');
}

/** @throws ApiError `method_not_allowed` */
export function refuseMethod({ method }: ReceivedRequest, accepted: readonly string[]): void {
  if (!accepted.includes(method)) throw wrongMethod(accepted);
}

function wrongMethod(accepted: readonly string[]): ApiError {
  const allow = accepted.join(', ');
  return new ApiError('method_not_allowed', message('api.method_not_allowed', { methods: allow }), {
    headers: { allow },
  });
}
