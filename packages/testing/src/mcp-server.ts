import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { JsonObject } from '@millrace/engine';
import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

export interface McpTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
}

export interface McpTestServer {
  readonly url: string;
  /** Its host and port, in the format of allow-lists. */
  readonly host: string;
  /** Every HTTP request, in order. */
  readonly requests: readonly {
    readonly method: string;
    readonly headers: { readonly [name: string]: string };
  }[];
  /** Every call of a tool, in order. */
  readonly calls: readonly { readonly name: string; readonly arguments: JsonObject }[];
  close(): Promise<void>;
}

export interface McpTestServerOptions {
  readonly tools: readonly McpTool[];
  /** The `CallToolResult`; what it throws is an error of the protocol. */
  readonly call: (name: string, args: JsonObject) => object;
  /** The bearer token it wants. */
  readonly token?: string;
  /** Answers with JSON documents instead of streams of events. */
  readonly sendsJson?: boolean;
  /** Without sessions. */
  readonly isStateless?: boolean;
  /** Tools in one page of the list. */
  readonly pageSize?: number;
  /** Sent instead of everything else. */
  readonly raw?: { readonly status: number; readonly type: string; readonly body: string };
}

/** A local server of the Model Context Protocol over Streamable HTTP, by the protocol's own library. */
export async function startMcpServer(options: McpTestServerOptions): Promise<McpTestServer> {
  const requests: McpTestServer['requests'][number][] = [];
  const calls: McpTestServer['calls'][number][] = [];
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

  const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const server = new Server({ name: 'test', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', ({ params }) => {
      const { tools, pageSize = tools.length } = options;
      const start = Number(params?.cursor ?? 0);
      const end = start + pageSize;
      return {
        tools: tools.slice(start, end) as never,
        ...(end < tools.length ? { nextCursor: String(end) } : {}),
      };
    });
    server.setRequestHandler('tools/call', ({ params }) => {
      const args = (params.arguments ?? {}) as JsonObject;
      calls.push({ name: params.name, arguments: args });
      return options.call(params.name, args) as never;
    });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: options.isStateless === true ? undefined : () => crypto.randomUUID(),
      enableJsonResponse: options.sendsJson === true,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await server.connect(transport);
    return transport;
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
    );
    const method = incoming.method ?? 'GET';
    requests.push({ method, headers });
    if (options.raw !== undefined) {
      response.writeHead(options.raw.status, { 'content-type': options.raw.type }).end(options.raw.body);
      return;
    }
    if (options.token !== undefined && headers.authorization !== `Bearer ${options.token}`) {
      response.writeHead(401).end();
      return;
    }
    const id = headers['mcp-session-id'];
    const transport = id === undefined ? await open() : sessions.get(id);
    if (transport === undefined) {
      response.writeHead(404).end();
      return;
    }
    const request = new Request(`http://127.0.0.1${incoming.url ?? '/'}`, {
      method,
      headers,
      ...(method === 'POST' ? { body: Readable.toWeb(incoming) as never, duplex: 'half' } : {}),
    } as RequestInit);
    const answer = await transport.handleRequest(request);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) response.end();
    else Readable.fromWeb(answer.body as ReadableStream).pipe(response);
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error: unknown) => {
      process.stderr.write(`MCP server: ${String(error)}\n`);
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    host: `127.0.0.1:${port}`,
    requests,
    calls,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
