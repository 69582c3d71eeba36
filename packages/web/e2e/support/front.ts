import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** An address known before the service behind it starts, like that of a proxy. */
export interface Front {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Forwards connections to this port from now on. */
  leadTo(port: number): void;
  stop(): Promise<void>;
}

export async function openFront(): Promise<Front> {
  let target = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const service = connect(target, '127.0.0.1');
    client.pipe(service).pipe(client);
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        service.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo(port) {
      target = port;
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
