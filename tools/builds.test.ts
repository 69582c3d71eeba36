import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ensureBuild } from './builds.mjs';

test('builds once, and again if someone has deleted the build', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mr-builds-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  let builds = 0;
  const make = (into: string) => {
    mkdirSync(into);
    builds += 1;
    return Promise.resolve();
  };
  const build = () => ensureBuild({ folder, sources: ['LICENSE'], what: 'a folder', make }, () => {});
  const place = await build();
  expect([await build(), builds]).toEqual([place, 1]);
  rmSync(place, { recursive: true });
  expect([await build(), builds]).toEqual([place, 2]);
});
