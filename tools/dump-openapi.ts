import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { registry } from '@millrace/nodes';
import { pino } from 'pino';
import { buildApp } from '../packages/api/src/app.ts';
import { loadConfig } from '../packages/cli/src/settings/config.ts';
import type { Database } from '../packages/database/src/database.ts';
import { createEgress } from '../packages/egress/src/egress.ts';
import { createFiles } from '../packages/files/src/files.ts';
import { createFolderStore } from '../packages/files/src/folder-store.ts';
import { NO_EXECUTOR } from '../packages/runtime/src/executor.ts';
import { createNotifier } from '../packages/runtime/src/notifier.ts';
import { createPlanCache } from '../packages/runtime/src/plans.ts';
import { createSecretKeys } from '../packages/secrets/src/keys.ts';

const FILE = fileURLToPath(new URL('../packages/api/openapi.json', import.meta.url));

/** The OpenAPI document as the service serves it; needs no database. */
async function makeDocument(): Promise<string> {
  const db = new Proxy({} as Database, {
    get: (_target, name) => {
      throw new Error(`making the OpenAPI document must not use the database (${String(name)})`);
    },
  });
  const config = loadConfig({});
  const log = pino({ level: 'silent' });
  const app = buildApp({
    config,
    db,
    log,
    registry,
    plans: createPlanCache(db, async () => ({ registry, isFinal: true })),
    executor: NO_EXECUTOR,
    notifier: createNotifier(db, log),
    readiness: async () => ({ ready: true }),
    secretKeys: createSecretKeys(config),
    egress: createEgress([], async () => null, config.hostLimits),
    files: createFiles({ db, store: createFolderStore(config.files.folder), settings: config.files }),
    openSecret: async () => {
      throw new Error('making the OpenAPI document opens no secret');
    },
  });
  await app.ready();
  const text = `${JSON.stringify(app.swagger(), null, 2)}\n`;
  await app.close();
  return text;
}

const document = await makeDocument();
if (process.argv.includes('--check')) {
  const committed = await readFile(FILE, 'utf8').catch(() => '');
  if (committed !== document) {
    console.error('packages/api/openapi.json is out of date; run `npm run openapi:dump`');
    process.exitCode = 1;
  }
} else {
  await writeFile(FILE, document);
}
