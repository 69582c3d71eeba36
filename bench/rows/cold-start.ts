import type { Row } from '../row.ts';
import { startMillrace } from '../server-process.ts';

/** From starting the process until /readyz returns 200, including its embedded PostgreSQL. */
export const coldStartRow: Row = {
  id: 'cold-start',
  metrics: [
    { id: 'cold-start.first', section: 'Start', label: 'First start, empty data folder', unit: 's' },
    { id: 'cold-start.next', section: 'Start', label: 'Start on an existing data folder', unit: 's' },
  ],
  async measure(bench) {
    const folder = await bench.createFolder('cold-start');
    const start = async (): Promise<number> => {
      const server = await startMillrace({ command: 'start', databaseUrl: null, folder });
      await server.stop();
      return server.readyAfterMs / 1000;
    };
    return { 'cold-start.first': await start(), 'cold-start.next': await start() };
  },
};
