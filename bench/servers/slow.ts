import Fastify from 'fastify';
import { announce } from './announce.ts';

/** What calls to a system that takes its time take. */
const ANSWERED_AFTER_MS = 200;

const app = Fastify();
app.post('/', async (_, reply) => {
  await new Promise((resolve) => setTimeout(resolve, ANSWERED_AFTER_MS));
  return reply.send({ taken: true });
});
announce(await app.listen({ host: '127.0.0.1', port: 0 }));
