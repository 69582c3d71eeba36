import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const GRACE_MS = 500;

/**
 * Closes connections on which nothing was ever sent when the server closes. Browsers open them ahead of time; Node considers them busy
 * until its request timeout, which would delay shutdown by minutes.
 */
export function endSilentConnections(app: FastifyInstance): void {
  const fresh = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    fresh.add(socket);
    socket.once('close', () => fresh.delete(socket));
  });
  app.server.on('request', ({ socket }: { readonly socket: Socket }) => fresh.delete(socket));
  app.addHook('preClose', async () => {
    // Requests already started, possibly still in transit, learn that the service is shutting down.
    setTimeout(() => {
      for (const socket of fresh) if (socket.bytesRead === 0) socket.destroy();
    }, GRACE_MS);
  });
}
