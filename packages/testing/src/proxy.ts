import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy for a database that can become a black hole: connections stay open, and nothing gets through. */
export interface Proxy {
  /** The database's URL through the proxy. */
  readonly url: string;
  /** From now on bytes vanish, including those of new connections. */
  swallow(): void;
  /** From now on new connections work; those that lost bytes are cut. */
  forward(): void;
  close(): Promise<void>;
}

/** @param target URL of a database reached by socket (`?host=/folder`) */
export async function openProxy(target: string): Promise<Proxy> {
  const targetUrl = new URL(target);
  const socketPath = `${targetUrl.searchParams.get('host')}/.s.PGSQL.${targetUrl.port || '5432'}`;
  let swallowing = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(socketPath);
    const pairs: [Socket, Socket][] = [
      [client, upstream],
      [upstream, client],
    ];
    for (const [from, to] of pairs) {
      sockets.add(from);
      from.on('data', (chunk) => !swallowing && to.write(chunk));
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    swallow() {
      swallowing = true;
    },
    forward() {
      cutAll();
      swallowing = false;
    },
    close() {
      cutAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
