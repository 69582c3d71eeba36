import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AiProvider, JsonObject } from '@millrace/engine';
import { anthropic } from './model-server-anthropic.ts';
import {
  type EmbeddingAnswer,
  type EmbeddingRequest,
  embeddingBody,
  readEmbeddingRequest,
} from './model-server-embeddings.ts';
import { google } from './model-server-google.ts';
import { openAi } from './model-server-openai.ts';
import type { ModelAnswer, ModelError, ModelRequest, WireFormat } from './model-server-types.ts';
import { WireRefusal } from './model-server-types.ts';

export type { EmbeddingRequest } from './model-server-embeddings.ts';
export type { ModelAnswer, ModelError, ModelRequest } from './model-server-types.ts';

export interface ModelServer {
  /** The base URL for credentials of this provider. */
  baseUrl(provider: AiProvider): string;
  /** Its host and port, in the format of allow-lists. */
  readonly host: string;
  /** Every request, including refused ones, in order. */
  readonly requests: readonly ModelRequest[];
  /** Every well-formed request for vectors, in order. */
  readonly embeddings: readonly EmbeddingRequest[];
  close(): Promise<void>;
}

export interface ModelServerOptions {
  /**
   * The model's output for a request: a string, an answer, or an error. Called once for each well-formed request; it sees the whole
   * conversation, so it can depend on that alone, or on `request.number`.
   */
  readonly answer: (
    request: ModelRequest,
  ) =>
    | string
    | ModelAnswer
    | { readonly error: ModelError }
    | Promise<string | ModelAnswer | { readonly error: ModelError }>;
  /** Requests with another key are refused the way each provider does; by default any key is accepted. Null: no key is required. */
  readonly key?: string | null;
  /** The vectors of texts; absent: it makes none. */
  readonly embed?: (request: EmbeddingRequest) => EmbeddingAnswer | Promise<EmbeddingAnswer>;
  /** The models that OpenAI-compatible clients are told of; absent: the list isn't there. */
  readonly models?: readonly string[];
}

const FORMATS: Record<AiProvider, WireFormat> = { openai_compatible: openAi, anthropic, google };
const PREFIXES: Record<AiProvider, string> = {
  openai_compatible: '/openai/v1',
  anthropic: '/anthropic/v1',
  google: '/google/v1beta',
};

/**
 * A local server that implements the streaming formats of OpenAI-compatible servers, Anthropic and Google, each below its own path, and
 * validates requests as strictly as they do. The test scripts its output:
 *
 *     const server = await startModelServer({
 *       answer: ({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Done.' : { toolCalls: [{ name: 'add', arguments: { a: 1 } }] }),
 *     });
 *     const credential = { type: 'ai', provider: 'anthropic', base_url: server.baseUrl('anthropic'), api_key: 'k' };
 */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const embeddings: EmbeddingRequest[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    response.on('error', () => undefined);
    void handle(incoming, response, options, { requests, embeddings }).catch((error: unknown) => {
      // A script that throws is a mistake in the test; the client gets a broken connection, the test output the error.
      process.stderr.write(`model server: ${String(error)}\n`);
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: (provider) => `http://127.0.0.1:${port}${PREFIXES[provider]}`,
    host: `127.0.0.1:${port}`,
    requests,
    embeddings,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function handle(
  incoming: IncomingMessage,
  response: ServerResponse,
  options: ModelServerOptions,
  received: { readonly requests: ModelRequest[]; readonly embeddings: EmbeddingRequest[] },
): Promise<void> {
  const { requests } = received;
  const provider = providerOf((incoming.url ?? '').split('?', 1)[0] ?? '');
  if (options.models !== undefined && incoming.method === 'GET' && incoming.url === '/openai/v1/models') {
    const list = { object: 'list', data: options.models.map((id) => ({ id, object: 'model' })) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
    return;
  }
  if (provider === undefined || incoming.method !== 'POST') {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found');
    return;
  }
  const format = FORMATS[provider];
  const path = (incoming.url ?? '').slice(PREFIXES[provider].lastIndexOf('/'));
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
  const body = JSON.parse(await readText(incoming)) as JsonObject;
  if (isForVectors(path)) {
    const asked = { provider, path, body, key: format.key(headers), number: received.embeddings.length + 1 };
    return embed(response, asked, options, received.embeddings);
  }
  const ended = new Promise<'answered' | 'closed_by_client'>((resolve) => {
    response.once('close', () => resolve(response.writableFinished ? 'answered' : 'closed_by_client'));
  });
  const base = {
    number: requests.length + 1,
    provider,
    path,
    headers,
    key: format.key(headers),
    body,
    ended,
  };
  try {
    const request: ModelRequest = { ...base, ...format.read(body, path) };
    requests.push(request);
    checkRequest(request, options.key);
    const answer = await options.answer(request);
    if (typeof answer === 'object' && 'error' in answer) return sendError(response, format, answer.error);
    await sendAnswer(response, format, typeof answer === 'string' ? { text: answer } : answer, request);
  } catch (error) {
    if (!(error instanceof WireRefusal)) throw error;
    if (requests.length < base.number) requests.push({ ...base, ...UNREAD });
    sendError(response, format, error.error);
  }
}

function isForVectors(path: string): boolean {
  return /^\/v1\/embeddings\b|:batchEmbedContents\b/.test(path);
}

async function embed(
  response: ServerResponse,
  {
    body,
    ...asked
  }: Pick<EmbeddingRequest, 'provider' | 'path' | 'key' | 'number'> & { readonly body: JsonObject },
  options: ModelServerOptions,
  received: EmbeddingRequest[],
): Promise<void> {
  const format = FORMATS[asked.provider];
  try {
    const request = { ...asked, ...readEmbeddingRequest(asked.provider, asked.path, body) };
    received.push(request);
    if (options.key !== undefined && asked.key !== options.key) throw new WireRefusal({ status: 401 });
    const answer = (await options.embed?.(request)) ?? { error: { status: 404 } };
    if ('error' in answer) return sendError(response, format, answer.error);
    const text = 'body' in answer ? answer.body : embeddingBody(request, answer);
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  } catch (error) {
    if (!(error instanceof WireRefusal)) throw error;
    sendError(response, format, error.error);
  }
}

const UNREAD = {
  model: '',
  system: '',
  messages: [],
  tools: [],
  outputSchema: null,
  maxTokens: null,
  temperature: null,
};

function providerOf(path: string): AiProvider | undefined {
  const { openai_compatible: openAiPrefix } = PREFIXES;
  if ([`${openAiPrefix}/chat/completions`, `${openAiPrefix}/embeddings`].includes(path))
    return 'openai_compatible';
  if (path === `${PREFIXES.anthropic}/messages`) return 'anthropic';
  return path.startsWith(`${PREFIXES.google}/models/`) ? 'google' : undefined;
}

/** Checks that apply to every provider. */
function checkRequest(
  { provider, key, headers, body }: ModelRequest,
  expectedKey: string | null | undefined,
): void {
  const isRight = expectedKey === undefined ? key !== null : key === expectedKey;
  if (!isRight) throw new WireRefusal({ status: 401 });
  if (provider === 'anthropic' && headers['anthropic-version'] !== '2023-06-01') {
    throw new WireRefusal({ status: 400, message: 'anthropic-version: header is required' });
  }
  if (provider !== 'google' && body.stream !== true) {
    throw new WireRefusal({ status: 400, message: 'this server only streams' });
  }
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function sendError(response: ServerResponse, format: WireFormat, error: ModelError): void {
  const { body } = format.error(error);
  const { code } = (body.error ?? {}) as { code?: unknown };
  // Google's wrong key is a 400, which only its format can detect.
  const status = format === google && typeof code === 'number' ? code : error.status;
  response
    .writeHead(status, { 'content-type': 'application/json', ...error.headers })
    .end(error.body ?? JSON.stringify(body));
}

async function sendAnswer(
  response: ServerResponse,
  format: WireFormat,
  answer: ModelAnswer,
  request: ModelRequest,
): Promise<void> {
  if (answer.raw !== undefined) {
    response.writeHead(200, { 'content-type': answer.raw.type }).end(answer.raw.body);
    return;
  }
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  const events = format.events(answer, request);
  const write = (text: string): Promise<void> => writeAll(response, text, answer.pieceBytes);
  for (const [index, event] of events.entries()) {
    if (answer.cutAfter === index) return cut(response);
    if (answer.endAfter === index) return void response.end();
    if (answer.garbageAfter === index) await write('data: {"choices": [ this is not JSON\n\n');
    if (answer.errorAfter?.events === index) {
      return void response.end(format.error(answer.errorAfter.error).event);
    }
    if (answer.pauseAfter?.events === index) {
      response.flushHeaders();
      answer.pauseAfter.onReached?.();
      await answer.pauseAfter.until;
    }
    const strange = answer.strange?.[index % answer.strange.length];
    if (strange !== undefined && index > 0) await write(`event: news\ndata: ${strange}\n\n`);
    await write(event);
    if (answer.isEndless === true && index === lastTextIndex(answer, events)) {
      while (!response.destroyed) await write(event);
      return;
    }
  }
  response.end();
}

function lastTextIndex({ text }: ModelAnswer, events: readonly string[]): number {
  const piece = JSON.stringify(typeof text === 'string' ? text : (text?.at(-1) ?? '')).slice(1, -1);
  return events.findLastIndex((event) => event.includes(piece));
}

/** Flushes what was written before the connection is cut, so that the client receives it. */
async function cut(response: ServerResponse): Promise<void> {
  const socket = response.socket;
  if (socket === null || socket.destroyed) return;
  await new Promise<void>((resolve) => socket.write('', () => resolve()));
  socket.destroy();
}

async function writeAll(
  response: ServerResponse,
  text: string,
  pieceBytes: number | undefined,
): Promise<void> {
  const bytes = Buffer.from(text, 'utf8');
  const size = pieceBytes ?? bytes.length;
  for (let start = 0; start < bytes.length; start += size) {
    if (response.destroyed) return;
    const piece = bytes.subarray(start, start + size);
    if (!response.write(piece)) await drained(response);
    // One event loop turn between the pieces, or the socket would join them again.
    if (pieceBytes !== undefined) await new Promise((resolve) => setImmediate(resolve));
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
