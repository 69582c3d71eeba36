import Fastify from 'fastify';
import pg from 'pg';
import { announce } from './announce.ts';

// The same response after one durable row per request. While one batch is being committed the next one collects, so all requests in
// progress share the cost of a commit. Nothing else: no key, no look-up, no second write.
const client = new pg.Client({ connectionString: process.argv[2], pipeline: true });
await client.connect();
await client.query('CREATE SCHEMA IF NOT EXISTS bench');
await client.query(
  `CREATE TABLE IF NOT EXISTS bench.accepted (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, input json NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`,
);

interface Receipt {
  readonly id: string;
  readonly created_at: Date;
}
interface Waiting {
  readonly input: string;
  resolve(row: Receipt): void;
  reject(error: unknown): void;
}
let waiting: Waiting[] = [];
let isCommitting = false;

async function commitAll(): Promise<void> {
  isCommitting = true;
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    await commit(batch);
  }
  isCommitting = false;
}

async function commit(batch: readonly Waiting[]): Promise<void> {
  try {
    const { rows } = await client.query<Receipt>({
      name: 'accept',
      text: 'INSERT INTO bench.accepted (input) SELECT unnest($1::json[]) RETURNING id, created_at',
      values: [batch.map(({ input }) => input)],
    });
    for (const [index, call] of batch.entries()) {
      const row = rows[index];
      if (row === undefined) call.reject(new Error('a row is missing'));
      else call.resolve(row);
    }
  } catch (error) {
    for (const call of batch) call.reject(error);
  }
}

const app = Fastify();
app.post('/start', async (request, reply) => {
  const row = await new Promise<Receipt>((resolve, reject) => {
    waiting.push({ input: JSON.stringify(request.body), resolve, reject });
    // One turn later, so that the first batch includes all requests that are readable now.
    if (!isCommitting) {
      isCommitting = true;
      setImmediate(() => void commitAll());
    }
  });
  reply.code(202);
  return { execution_id: Number(row.id), status: 'running', started_at: row.created_at.toISOString() };
});
announce(await app.listen({ host: '127.0.0.1', port: 0 }));
