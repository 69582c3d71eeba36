import type { TestProject } from 'vitest/node';
import { DEBIAN_BINARIES, startDebianServer } from './debian.ts';
import { createTemplate, FAST_SETTINGS } from './prepared-data-dir.ts';

/**
 * Starts Debian's PostgreSQL for all test files, instead of the embedded one.
 *
 * @throws Error where it isn't installed
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (DEBIAN_BINARIES === null) {
    throw new Error("These tests need Debian's PostgreSQL: apt-get install postgresql pgbouncer");
  }
  const server = await startDebianServer({
    settings: FAST_SETTINGS,
    auth: 'scram-sha-256',
    locale: 'C.UTF-8',
  });
  // The runner may end without running its teardown; the server must not outlive it.
  process.once('exit', server.abandon);
  await createTemplate(server.superuserUrl, server.urlOf('millrace'));
  project.provide('superuserUrl', bySocket(server.superuserUrl, server.folder));
  project.provide('databaseUrl', bySocket(server.urlOf('millrace'), server.folder));
  return async () => {
    process.off('exit', server.abandon);
    await server.stop();
  };
}

/** As the URLs of the embedded server, which some tests open a proxy to. */
function bySocket(address: string, folder: string): string {
  const url = new URL(address);
  url.searchParams.set('host', folder);
  return url.href;
}
