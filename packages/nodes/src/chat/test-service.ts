import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type ChatServiceName,
  type CredentialOf,
  type HttpRequest,
  type HttpResponse,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@millrace/engine';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { afterEach } from 'vitest';
import { chatNotify } from '../nodes/chat-notify.ts';

/** A request received by the service on loopback. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly text: string;
  /** The body when it is JSON, else null. */
  readonly body: JsonValue;
}

/** The service's response. */
export interface Answer {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
}

export interface TestService {
  readonly url: string;
  readonly received: readonly Received[];
}

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** An HTTP server on loopback that records its requests; ends with the test. */
export async function startService({
  status = 200,
  headers = {},
  body = '{}',
}: Answer = {}): Promise<TestService> {
  const received: Received[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.once('end', () => answerTo(request, response, text));
  });
  const answerTo = (request: IncomingMessage, response: ServerResponse, text: string): void => {
    const isJson = request.headers['content-type']?.startsWith('application/json') === true;
    const { method = '', url = '' } = request;
    received.push({ method, url, headers: request.headers, text, body: isJson ? parseJson(text) : null });
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => new Promise((resolve) => server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

async function sendByFetch({ method, url, headers, body }: HttpRequest): Promise<HttpResponse> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...headers, connection: 'close' },
    ...(body === undefined ? {} : { body: body as string }),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

type Access = Partial<Omit<CredentialOf<'chat'>, 'type' | 'service'>>;

/**
 * Runs chat.notify against a service on loopback.
 * @param access the token, or the path of the webhook in `webhook_url`; the service's URL is prepended
 */
export async function notify(
  name: ChatServiceName,
  access: Access,
  config: JsonObject,
  options: Omit<RunOptions, 'config'> & { readonly answer?: Answer } = {},
) {
  const { answer, ...others } = options;
  const service = await startService(answer);
  const { webhook_url: path = null, token = null } = access;
  const { result } = await runNode(chatNotify, {
    http: sendByFetch,
    credential: {
      type: 'chat',
      service: name,
      webhook_url: path === null ? null : `${service.url}${path}`,
      token,
      base_url: access.base_url === undefined ? service.url : access.base_url,
    },
    ...others,
    config: { credential_id: 3, ...config },
  });
  return { result, received: service.received, request: service.received[0] };
}

/** A message with everything. */
export const RICH: JsonObject = {
  text: 'a <b> & *c*',
  title: 'Title',
  fields: [
    { label: 'Order', value: 17 },
    { label: 'Paid', value: true },
  ],
  link: { text: 'Open', url: 'https://shop.example.com/o?a=1&b=2' },
  color: 'error',
};
