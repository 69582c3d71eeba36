import type { HttpResponse, JsonObject } from '@millrace/engine';

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
