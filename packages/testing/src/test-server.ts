import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach } from 'vitest';

/** A server on 127.0.0.1 (or another loopback address) that a test connects to. */
export interface TestServer {
  readonly port: number;
  readonly url: string;
  /** Connections made so far. */
  connections(): number;
}

const running: { server: Server; sockets: Set<Socket> }[] = [];

afterEach(async () => {
  const closed = running.splice(0).map(({ server, sockets }) => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  await Promise.all(closed);
});

/** Starts an HTTP server that ends with the test. */
export function startHttp(listener: RequestListener, host = '127.0.0.1'): Promise<TestServer> {
  return listen(createServer({ keepAliveTimeout: 60_000 }, listener), host);
}

/** Starts a TCP server that runs `onConnection` for each connection. */
export function startTcp(onConnection: (socket: Socket) => void): Promise<TestServer> {
  return listen(createTcpServer(onConnection), '127.0.0.1');
}

async function listen(server: Server, host: string): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  running.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://${host}:${port}`, connections: () => connections };
}
