import { expect, test } from 'vitest';
import { artefactSources } from './artefact.mjs';

test('a build of the artefact covers the service, the admin area and what is beside them', () => {
  expect(artefactSources()).toEqual(
    expect.arrayContaining([
      'packages/api/src',
      'packages/cli/src',
      'packages/cli/bin',
      'packages/database/src',
      'packages/runtime/src',
      'packages/web/src',
      'docs',
      'examples',
      'package-lock.json',
      'tools/bundle.ts',
    ]),
  );
  expect(artefactSources().filter((source) => source.includes('testing'))).toEqual([]);
});
