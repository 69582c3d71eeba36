import Fastify from 'fastify';
import { announce } from './announce.ts';

// The least a Fastify server can do: read a JSON body, answer 202 with a small one.
const app = Fastify();
let count = 0;
app.post('/start', (_request, reply) => {
  count += 1;
  reply.code(202).send({ execution_id: count, status: 'running', started_at: new Date().toISOString() });
});
announce(await app.listen({ host: '127.0.0.1', port: 0 }));
