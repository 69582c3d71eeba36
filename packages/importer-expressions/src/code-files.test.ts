import { expect, it } from 'vitest';
import { filesOfCode } from './code-files.ts';

it.each([
  ['return items.map((item) => ({ json: {}, binary: item.binary }));', 'none', true],
  ['return $input.all().map((item) => ({ json: { a: item.binary.data } }));', 'own', true],
  ["return items.map((item) => ({ json: $('A').first().binary }));", 'others', true],
  ['const item = other(); return [{ json: item.binary.data }];', 'others', false],
  ['let item = items[0]; item = other(); return [{ json: item.binary.data }];', 'others', false],
  ['return items.filter((item) => item.binary);', 'others', false],
])('knows whose files are read, and how many items come back: %s', (code, reads, keepsCount) => {
  expect(filesOfCode(code)).toMatchObject({ reads, keepsCount });
});

it('leaves out only what passes files on', () => {
  const code = 'return [{ json: { a: 1 }, binary: $input.item.binary ?? {}, pairedItem: 0 }];';
  const found = filesOfCode(code);
  expect(found).toMatchObject({ passes: true, makes: [], isEach: false });
  expect(found?.code).toBe('return [{ json: { a: 1 },  pairedItem: 0 }];');
  expect(filesOfCode('return [')).toBe(null);
});
