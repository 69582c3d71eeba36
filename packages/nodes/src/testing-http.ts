import type { HttpResponse, JsonObject } from '@millrace/engine';
import { httpRequest } from './nodes/http-request.ts';
import { type RunOptions, runNode } from './testing.ts';

/** What the tests call unless they say otherwise. */
export const URL = 'https://api.example.com/orders';

/** A response, JSON by default. */
export function answer(
  body: string | Uint8Array,
  options: { status?: number; type?: string; headers?: JsonObject } = {},
): HttpResponse {
  return {
    status: options.status ?? 200,
    headers: {
      'content-type': options.type ?? 'application/json',
      ...(options.headers as { [name: string]: string }),
    },
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  };
}

/** Runs the node against responses. */
export async function call(config: JsonObject, options: Omit<RunOptions, 'config'> = {}) {
  const { result, requests } = await runNode(httpRequest, {
    http: [answer('{}')],
    ...options,
    config: { url: URL, ...config },
  });
  return { result, request: requests[0], requests };
}
