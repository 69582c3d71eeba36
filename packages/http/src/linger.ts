import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** Enough for a response to arrive, and for its reader to stop sending. */
const LINGER_MS = 5_000;

/**
 * Lets responses arrive that end a connection while the body of their request is still being sent, such as 413. Node closes the connection at once, and
 * what then arrives is answered by a reset, which discards the response: a proxy in between says 502. So it is read and dropped for a moment.
 */
export function lingerAfterEarlyResponses(app: FastifyInstance): void {
  app.addHook('onSend', ({ raw }, reply, body, done) => {
    if (!raw.complete && reply.getHeader('connection') === 'close') lingerAfter(raw);
    done(null, body);
  });
}

function lingerAfter(request: IncomingMessage): void {
  const { socket } = request;
  const close = socket.destroySoon.bind(socket);
  // Node calls it once the response is written.
  socket.destroySoon = () => {
    if (request.readableEnded) {
      close();
      return;
    }
    socket.end();
    request.once('end', close).resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
