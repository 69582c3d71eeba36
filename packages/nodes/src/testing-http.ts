import type { JsonObject } from '@millrace/engine';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { answer } from '@millrace/node-kit/testing-http';
import { httpRequest } from './nodes/http-request.ts';

/** What the tests call unless they say otherwise. */
export const URL = 'https://api.example.com/orders';

/** Runs the node against responses. */
export async function call(config: JsonObject, options: Omit<RunOptions, 'config'> = {}) {
  const { result, requests } = await runNode(httpRequest, {
    http: [answer('{}')],
    ...options,
    config: { url: URL, ...config },
  });
  return { result, request: requests[0], requests };
}
