import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '@millrace/database/migrate';
import { expect, it } from 'vitest';
import { chain, set } from './support/client.ts';
import { allFinished } from './support/ledger.ts';
import { Load } from './support/load.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld();
const RELEASED = fileURLToPath(new URL('../../../database/src/migrations', import.meta.url));

/** Additions that a later version might make to the current schema. */
const NEXT_STEP = `
  ALTER TABLE executions ADD COLUMN note text, ADD COLUMN rank integer NOT NULL DEFAULT 0;
  ALTER TABLE workflows ADD COLUMN note text;
  ALTER TABLE api_keys ADD COLUMN note text;
  ALTER TABLE idempotency_records ADD COLUMN note text;
  ALTER TABLE workers ADD COLUMN note text;
  CREATE INDEX executions_by_rank ON executions (rank);
  CREATE TABLE later_things (id bigint PRIMARY KEY)`;

it('running processes continue while a later version migrates, and no older one starts after that', async () => {
  const old = await (await world().spawn('start')).ready();
  const worker = await world().worker();
  const client = world().client(old);
  const workflow = await client.createWorkflow(
    'upgrade',
    chain(set('shape', { marker: '{{trigger.data.marker}}' })),
  );
  const load = new Load(client, workflow, 4);
  await until('starts before', () => load.accepted >= 40);

  const folder = await mkdtemp(join(tmpdir(), 'millrace-upgrade-'));
  await cp(RELEASED, folder, { recursive: true });
  const next = (await readdir(folder)).filter((file) => file.endsWith('.sql')).length + 1;
  await writeFile(join(folder, `${String(next).padStart(4, '0')}_later.sql`), NEXT_STEP);
  expect((await migrate(world().db, folder)).map(({ name }) => name)).toEqual(['later']);
  await rm(folder, { recursive: true });

  const accepted = load.accepted;
  await until('starts afterwards', () => load.accepted >= accepted + 40);
  const starts = await load.stop();
  for (const { answer } of starts)
    if (answer.kind === 'refused') expect(answer).toMatchObject({ status: 503 });
  const rows = await allFinished(world().db, workflow);
  expect(rows.filter(({ status }) => status !== 'completed')).toEqual([]);
  expect(rows.length).toBeGreaterThanOrEqual(load.accepted);
  expect(old.isRunning && worker.isRunning).toBe(true);

  const late = await world().spawn('start');
  expect((await late.ended()).code).toBe(1);
  expect(late.output).toContain('used by a newer one');
});
