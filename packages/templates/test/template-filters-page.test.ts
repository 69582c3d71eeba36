import { loadingWhatItNeeds, NotLoadedError } from '@millrace/values/not-loaded';
import { expect, test } from 'vitest';
import { FILTERS as ALL } from '../src/template-filters.ts';
import { FILTERS } from '../src/template-filters-page.ts';
import { ExpressionParser } from '../src/template-parser.ts';

const parse = (text: string) => new ExpressionParser(text, 0, { filters: FILTERS }).parse();

test('a page loads the filters with the first template that has one', async () => {
  expect(parse('{{trigger.data.name}}')).not.toHaveProperty('error');
  expect(() => parse('{{trigger.data.name | upper}}')).toThrow(NotLoadedError);
  expect(await loadingWhatItNeeds(async () => parse('{{trigger.data.name | upper}}'))).not.toHaveProperty(
    'error',
  );
  expect([...FILTERS]).toEqual([...ALL]);
});
