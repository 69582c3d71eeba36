import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const GRACE_MS = 500;

/**
 * Ends, when the server closes, the connections on which nothing was ever sent. Browsers open such ahead of time; Node
 * takes them for busy until its request timeout, which would hold up a stop for minutes.
 */
export function endSilentConnections(app: FastifyInstance): void {
  const fresh = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    fresh.add(socket);
    socket.once('close', () => fresh.delete(socket));
  });
  app.server.on('request', ({ socket }: { readonly socket: Socket }) => fresh.delete(socket));
  app.addHook('preClose', async () => {
    // What has begun to ask is answered that the service is shutting down; it may be on its way still.
    setTimeout(() => {
      for (const socket of fresh) if (socket.bytesRead === 0) socket.destroy();
    }, GRACE_MS);
  });
}
