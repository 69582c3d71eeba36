import { expect, test, vi } from 'vitest';

// As in the build of the admin area.
vi.mock('./pattern-engine.ts', () => import('./pattern-engine-page.ts'));

const { searchForPattern } = await import('./pattern.ts');
const { loadPatternEngine, PatternEngineMissingError, withPatterns } = await import(
  './pattern-engine-page.ts'
);

const find = (pattern: string): string | null => {
  const search = searchForPattern(pattern);
  if ('key' in search) throw new Error(search.key);
  return search.find('order 42', 0)?.group(0) ?? null;
};

test('a page loads what runs patterns with the first one, and has its result as if it had been there', async () => {
  expect(() => find('[0-9]+')).toThrow(PatternEngineMissingError);
  const work = vi.fn(async () => find('[0-9]+'));
  expect(await withPatterns(work)).toBe('42');
  expect(work).toHaveBeenCalledTimes(2);
  // Now it is there.
  await loadPatternEngine();
  expect(find('[a-z]+')).toBe('order');
});

test('other errors are not taken for a missing engine', async () => {
  const work = vi.fn(async () => Promise.reject(new Error('another')));
  await expect(withPatterns(work)).rejects.toThrow('another');
  expect(work).toHaveBeenCalledTimes(1);
});
