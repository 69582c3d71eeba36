import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { send } from '@millrace/testing/api';
import openapiTypeScript, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';

const STORY = fileURLToPath(new URL('../../../../docs/client/story.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

let service: WorkingService;
beforeAll(async () => {
  service = await startWorkingService();
});
afterAll(() => service.stop());

test('a program that uses the whole API with a generated client has no type errors', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-client-'));
  try {
    const { text } = await send(`${service.url}/api/v1/openapi.json`, 'GET');
    const types = astToString(await openapiTypeScript(text));
    await writeFile(join(folder, 'millrace.ts'), types);
    const config = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        rootDirs: [join(ROOT, 'docs/client'), folder],
        typeRoots: [join(ROOT, 'node_modules/@types')],
      },
      files: [STORY],
      include: [],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(ROOT, 'node_modules/typescript-native/bin/tsc');
    const said = await promisify(execFile)(process.execPath, [tsc, '--project', folder], { cwd: ROOT }).catch(
      (error: { readonly stdout: string }) => error,
    );
    expect(said.stdout).toBe('');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('and it runs', async () => {
  // Not imported by name: it belongs to no package, and the types that it uses are generated above.
  const { tellTheStory } = (await import(STORY)) as {
    readonly tellTheStory: (baseUrl: string, key: string) => Promise<readonly unknown[]>;
  };
  expect(await tellTheStory(service.url, service.key.text)).toEqual([
    ['/input_data/name'],
    ...['Hello Ada', 'Hello Grace', 'Hello Ada'],
    ['Hello Alan', '/items/1/input_data/name'],
    4,
    'archived',
    true,
  ]);
});
