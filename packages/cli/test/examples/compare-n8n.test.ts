import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { comparedWorkflows } from './compared-workflows.ts';
import { runImported } from './imported-run.ts';
import { openWorld, type World } from './world.ts';

/** A folder in which `npm install n8n` was run; n8n is no part of this repository. */
const N8N = process.env.N8N_FOLDER;

/** A body without the order of its members. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, sorted(each)] as const);
  return Object.fromEntries(entries.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

describe.skipIf(N8N === undefined)('an imported workflow calls what n8n calls', () => {
  let world: World;
  let folder: string;
  beforeAll(async () => {
    world = await openWorld();
    folder = await mkdtemp(join(tmpdir(), 'compared-'));
  });
  afterAll(() => world.close());

  /** Calls without their order: n8n runs a node for all items before the next node. */
  async function callsOf(run: () => Promise<unknown>): Promise<readonly string[]> {
    world.outside.forget();
    world.outside.on('POST /*', ({ body }) => ({ body: { got: body } }));
    world.outside.on('PUT /items/*', { body: {} });
    world.outside.on('GET /list', {
      body: {
        items: [
          { id: 7, title: 'x' },
          { id: 8, title: 'y "z"' },
        ],
      },
    });
    world.outside.on('GET /plain-list', { body: [{ id: 1 }, { id: 2 }] });
    world.outside.on('GET /thing', { body: [{ id: 1 }, { id: 2 }] });
    world.outside.on('GET /orders', { body: { id: 3 } });
    world.outside.on('GET /empty-list', { body: [] });
    world.outside.on('GET /status/200', { body: { ok: true } });
    world.outside.on('GET /status/500', { status: 500, body: { ok: false } });
    await run();
    return world.outside.received
      .map(({ line, query, body }) => JSON.stringify([line, query, sorted(body)]))
      .toSorted();
  }

  it.each(Object.keys(comparedWorkflows('')))(
    '%s',
    async (name) => {
      const workflow = comparedWorkflows(world.outside.url)[name] ?? {};
      const theirs = await callsOf(async () => {
        const file = join(folder, 'workflow.json');
        await writeFile(file, JSON.stringify(workflow));
        const { stdout } = await promisify(execFile)(process.execPath, [
          'tools/n8n/run.cjs',
          N8N ?? '',
          file,
        ]);
        expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
          status: 'success',
          error: null,
        });
      });
      const ours = await callsOf(() => runImported(world, workflow));
      expect(ours).toEqual(theirs);
    },
    60_000,
  );
});
