import { setTimeout as pause } from 'node:timers/promises';
import { readCpuMs, readResidentMib, withChildren } from '../process-facts.ts';
import type { Row } from '../row.ts';
import { type MillraceOptions, startMillrace } from '../server-process.ts';

/** Until what a start leaves to be done later is done: giving back memory, and the first round of deleting what has expired. */
const SETTLE_MS = 20_000;

/** From starting the process until /readyz returns 200, including its embedded PostgreSQL, and what it takes while nothing happens. */
export const coldStartRow: Row = {
  id: 'cold-start',
  metrics: [
    { id: 'cold-start.first', section: 'Start', label: 'First start, empty data folder', unit: 's' },
    { id: 'cold-start.next', section: 'Start', label: 'Start on an existing data folder', unit: 's' },
    { id: 'cold-start.artefact', section: 'Start', label: 'The same by the built artefact', unit: 's' },
    {
      id: 'cold-start.artefact-cpu',
      section: 'Start',
      label: 'Processor time until then, with PostgreSQL',
      unit: 'ms',
    },
    {
      id: 'cold-start.idle-cpu',
      section: 'Start',
      label: 'Processor time of a minute without work, with PostgreSQL',
      unit: 'ms',
    },
    {
      id: 'cold-start.idle-cpu-node',
      section: 'Start',
      label: 'The same of the Node process alone',
      unit: 'ms',
    },
    {
      id: 'cold-start.idle-memory',
      section: 'Memory',
      label: 'Millrace without work, built artefact with its own PostgreSQL',
      unit: 'MiB',
    },
  ],
  async measure(bench) {
    const folder = await bench.createFolder('cold-start');
    const options: MillraceOptions = { command: 'start', databaseUrl: null, folder };
    const start = async (more: Partial<MillraceOptions> = {}): Promise<number> => {
      const server = await startMillrace({ ...options, ...more });
      await server.stop();
      return server.readyAfterMs / 1000;
    };
    const [first, next] = [await start(), await start()];
    const artefact = await bench.artefact();
    // The first one fills the cache of compiled code.
    await start({ artefact });
    const server = await startMillrace({ ...options, artefact });
    const spentMs = async () => ({
      node: await readCpuMs([server.pid]),
      all: await readCpuMs(await withChildren(server.pid)),
    });
    const { all: startMs } = await spentMs();
    await pause(SETTLE_MS);
    const settled = await spentMs();
    const seconds = Math.max(bench.effort.seconds, 10) * 6;
    await pause(seconds * 1000);
    const idle = await spentMs();
    const inMinute = (ms: number) => ms * (60 / seconds);
    const idleMib = await readResidentMib(server.pid);
    await server.stop();
    return {
      'cold-start.first': first,
      'cold-start.next': next,
      'cold-start.artefact': server.readyAfterMs / 1000,
      'cold-start.artefact-cpu': startMs,
      'cold-start.idle-cpu': inMinute(idle.all - settled.all),
      'cold-start.idle-cpu-node': inMinute(idle.node - settled.node),
      'cold-start.idle-memory': idleMib,
    };
  },
};
