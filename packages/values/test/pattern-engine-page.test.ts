import { afterAll, expect, test, vi } from 'vitest';

// As in the build of the admin area.
vi.mock('../src/pattern-engine.ts', () => import('../src/pattern-engine-page.ts'));

// Files share modules: another one may have loaded them already, and the next one must not find these.
vi.resetModules();
afterAll(() => {
  vi.resetModules();
});

const { searchForPattern } = await import('../src/pattern.ts');
const { loadPatternEngine } = await import('../src/pattern-engine-page.ts');
const { loadingWhatItNeeds, NotLoadedError } = await import('../src/not-loaded.ts');

const find = (pattern: string): string | null => {
  const search = searchForPattern(pattern);
  if ('key' in search) throw new Error(search.key);
  return search.find('order 42', 0)?.group(0) ?? null;
};

test('a page loads what runs patterns with the first one, and finds the same as if it had been there', async () => {
  expect(() => find('[0-9]+')).toThrow(NotLoadedError);
  const work = vi.fn(async () => find('[0-9]+'));
  expect(await loadingWhatItNeeds(work)).toBe('42');
  expect(work).toHaveBeenCalledTimes(2);
  await loadPatternEngine();
  expect(find('[a-z]+')).toBe('order');
});

test('other errors are not taken for something missing', async () => {
  const work = vi.fn(async () => Promise.reject(new Error('another')));
  await expect(loadingWhatItNeeds(work)).rejects.toThrow('another');
  expect(work).toHaveBeenCalledTimes(1);
});
