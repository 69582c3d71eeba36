import { startEmbedded } from '@millrace/database/embedded/embedded';

// A process that starts the embedded PostgreSQL on the given folder, reports the result in one line of JSON, and stops it on request. Tests
// kill it.
const [dataDir = ''] = process.argv.slice(2);
const keepAlive = setInterval(() => {}, 60_000);
try {
  const postgres = await startEmbedded({ dataDir });
  console.log(JSON.stringify({ pid: postgres.pid, url: postgres.url, adopted: postgres.adopted }));
  process.once('SIGTERM', () => {
    void postgres.stop().then(() => clearInterval(keepAlive));
  });
} catch (error) {
  console.log(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
  clearInterval(keepAlive);
}
