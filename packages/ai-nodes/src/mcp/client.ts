import {
  type HttpRequest,
  type HttpResponse,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NodeContext,
  ServiceError,
  stringifyJson,
  tryParseJson,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { eventsIn } from './events.ts';

/** The newest version that this client speaks; servers answer with one that both do. */
const VERSION = '2025-06-18';
const KNOWN_VERSIONS = ['2025-03-26', '2025-06-18', '2025-11-25'];
/** Of one response; parsing that much takes some 20 ms. */
const MAX_BYTES = 1024 * 1024;
const MAX_PAGES = 10;
const MAX_LISTED = 500;
const MAX_TIMEOUT_MS = 300_000;

/** Where a server is, and who calls it. */
export interface McpAddress {
  readonly name: string;
  readonly url: string;
  /** 0: none. */
  readonly credentialId: number;
}

/** A tool as a server describes it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

export interface McpCallResult {
  readonly value: JsonValue;
  readonly isError: boolean;
}

/**
 * Opens a session over Streamable HTTP (https://modelcontextprotocol.io/specification/2025-06-18/basic/transports). Every request goes
 * through the guarded client, with the credential that is bound to the server's host. Nothing that a server asks of its own accord is answered.
 * @throws ServiceError mcp_*; HttpClientError
 */
export async function openMcpSession(
  address: McpAddress,
  context: NodeContext,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<McpSession> {
  const session = new McpSession(address, context, signal, Math.min(timeoutMs, MAX_TIMEOUT_MS));
  await session.open();
  return session;
}

/** A session with a server. */
export class McpSession {
  readonly #address: McpAddress;
  readonly #context: NodeContext;
  readonly #signal: AbortSignal;
  readonly #timeoutMs: number;
  #headers: { readonly [name: string]: string } = {};
  #lastId = 0;

  constructor(address: McpAddress, context: NodeContext, signal: AbortSignal, timeoutMs: number) {
    this.#address = address;
    this.#context = context;
    this.#signal = signal;
    this.#timeoutMs = timeoutMs;
  }

  async open(): Promise<void> {
    const { response, result } = await this.#request('initialize', {
      protocolVersion: VERSION,
      capabilities: {},
      clientInfo: { name: 'millrace', version: '1' },
    });
    const { protocolVersion: version = null } = result;
    if (typeof version !== 'string' || !KNOWN_VERSIONS.includes(version)) {
      throw this.#problem('mcp_unsupported', message('nodes.mcp_version', { server: this.#address.name }));
    }
    const sessionId = response.headers['mcp-session-id'];
    this.#headers = {
      'mcp-protocol-version': version,
      ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
    };
    await this.#send({ jsonrpc: '2.0', method: 'notifications/initialized' }, {});
  }

  /** @throws ServiceError mcp_*; HttpClientError */
  async list(): Promise<readonly ListedTool[]> {
    const listed: ListedTool[] = [];
    let cursor: JsonValue = null;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { result }: { result: JsonObject } = await this.#request(
        'tools/list',
        cursor === null ? {} : { cursor },
      );
      const { tools = null, nextCursor = null } = result;
      if (!isJsonArray(tools)) throw this.#unreadable();
      listed.push(...tools.map((tool) => this.#toTool(tool)));
      cursor = typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : null;
      if (cursor === null) return listed;
      if (listed.length > MAX_LISTED) break;
    }
    const { name: server } = this.#address;
    throw this.#problem('mcp_too_many_tools', message('nodes.mcp_too_many', { server, max: MAX_LISTED }));
  }

  /**
   * @param key stable across attempts, so that a server can drop a repeat
   * @throws ServiceError mcp_*; HttpClientError
   */
  async call(name: string, args: JsonObject, key: string): Promise<McpCallResult> {
    const { result } = await this.#request(
      'tools/call',
      { name, arguments: args },
      { 'idempotency-key': key },
    );
    return { value: resultOf(result), isError: result.isError === true };
  }

  /** Ends it. Never throws: it is only a courtesy. */
  async close(): Promise<void> {
    if (this.#headers['mcp-session-id'] === undefined) return;
    // Also when the node was aborted: then the server would keep the session for a while.
    await this.#exchange('DELETE', null, {}, 5_000).catch(() => undefined);
  }

  #toTool(tool: JsonValue): ListedTool {
    if (!isJsonObject(tool)) throw this.#unreadable();
    const { name = null, description = null, inputSchema = null } = tool;
    if (typeof name !== 'string' || name === '') throw this.#unreadable();
    const parameters = isJsonObject(inputSchema) ? inputSchema : { type: 'object' };
    return { name, description: typeof description === 'string' ? description : '', parameters };
  }

  /** Sends a request and finds its response among what the server sends. */
  async #request(
    method: string,
    params: JsonObject,
    more: { readonly [name: string]: string } = {},
  ): Promise<{ readonly response: HttpResponse; readonly result: JsonObject }> {
    this.#lastId += 1;
    const id = this.#lastId;
    const response = await this.#send({ jsonrpc: '2.0', id, method, params }, more);
    const found = messagesIn(response).find(
      (each) => each.id === id && ('result' in each || 'error' in each),
    );
    if (found === undefined) throw this.#unreadable();
    const { error = null, result = null } = found;
    if (isJsonObject(error)) {
      const said = typeof error.message === 'string' ? error.message.slice(0, 500) : '';
      throw this.#problem('mcp_refused', message('nodes.mcp_refused', { server: this.#address.name, said }));
    }
    if (!isJsonObject(result)) throw this.#unreadable();
    return { response, result };
  }

  async #send(body: JsonObject, more: { readonly [name: string]: string }): Promise<HttpResponse> {
    const response = await this.#exchange('POST', body, more, this.#timeoutMs);
    const { status } = response;
    if (status >= 200 && status < 300) return response;
    const { name: server } = this.#address;
    if (status === 401 || status === 403) {
      throw this.#problem('mcp_unauthorized', message('nodes.mcp_unauthorized', { server, status }));
    }
    const isPassing = status === 429 || status >= 500;
    throw this.#problem('mcp_status', message('nodes.mcp_status', { server, status }), isPassing);
  }

  async #exchange(
    method: string,
    body: JsonObject | null,
    more: { readonly [name: string]: string },
    timeoutMs: number,
  ): Promise<HttpResponse> {
    const { url, credentialId } = this.#address;
    const request: HttpRequest = {
      method,
      url,
      headers: {
        accept: 'application/json, text/event-stream',
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...this.#headers,
        ...more,
      },
      ...(body === null ? {} : { body: stringifyJson(body) }),
      timeoutMs,
      maxResponseBytes: MAX_BYTES,
      maxRedirects: 0,
    };
    if (credentialId === 0) return this.#context.http.send(request, this.#signal);
    return (await this.#context.credentials.authenticate(credentialId, request)).send(this.#signal);
  }

  #unreadable(): ServiceError {
    return this.#problem(
      'mcp_invalid_response',
      message('nodes.mcp_unreadable', { server: this.#address.name }),
      true,
    );
  }

  #problem(code: string, explanation: Message, retryable = false): ServiceError {
    return new ServiceError(code, explanation, { retryable });
  }
}

/** The messages in a response: one document, or a stream of events. */
function messagesIn({ headers, body }: HttpResponse): readonly JsonObject[] {
  const text = new TextDecoder().decode(body);
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  return (isStream ? eventsIn(text) : [text]).flatMap((data) => {
    const value = tryParseJson(data);
    // Servers of the first version may put several into a list.
    return (value !== undefined && isJsonArray(value) ? value : [value ?? null]).filter(isJsonObject);
  });
}

/** What a tool returned, for the model: its structured result, else its texts. */
function resultOf({ structuredContent = null, content = null }: JsonObject): JsonValue {
  if (isJsonObject(structuredContent)) return structuredContent;
  if (!isJsonArray(content)) return '';
  return content.map(textOf).join('\n');
}

function textOf(part: JsonValue): string {
  if (!isJsonObject(part)) return '';
  const { type = null, text = null, uri = null, resource = null } = part;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'resource_link' && typeof uri === 'string') return uri;
  if (type === 'resource' && isJsonObject(resource) && typeof resource.text === 'string')
    return resource.text;
  return `[left out: ${typeof type === 'string' ? type : 'unknown'} content]`;
}
