import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import i18next from 'i18next';
import { expect, test } from 'vitest';
import { errorHint, hintFamilyOf, loadHints } from './error-hint.ts';

const HINTS = join(import.meta.dirname, '../../../ui/src/i18n/en/hints');

test('every hint is found in the file that is loaded for its code', async () => {
  const misplaced = globSync('*.json', { cwd: HINTS }).flatMap((path) => {
    const hints = JSON.parse(readFileSync(join(HINTS, path), 'utf8')) as object;
    return Object.keys(hints).filter((code) => hintFamilyOf(code) !== basename(path, '.json'));
  });
  expect(misplaced).toEqual([]);
});

test('a code has its hint once that file is loaded, and a code of a user has none', async () => {
  await i18next.init({ lng: 'en', resources: {} });
  expect(errorHint('sql_timeout')).toBeUndefined();
  await loadHints('data');
  expect(errorHint('sql_timeout')).toContain(' ');
  expect(errorHint('sql_out_of_stock')).toBeUndefined();
  expect(errorHint('toString')).toBeUndefined();
});
