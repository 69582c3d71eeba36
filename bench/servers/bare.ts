import Fastify from 'fastify';
import { announce } from './announce.ts';

// The minimum for a Fastify server: read a JSON body, respond with 202 and a small one.
const app = Fastify();
let count = 0;
app.post('/start', (_request, reply) => {
  count += 1;
  reply.code(202).send({ execution_id: count, status: 'running', started_at: new Date().toISOString() });
});
announce(await app.listen({ host: '127.0.0.1', port: 0 }));
