import { describe, expect, test } from 'vitest';
import { cleanName, findNameProblem } from './names.ts';

describe('a name', () => {
  test.each([
    ['Zoë', 'Straße 1', 'O’Neil', '山田 太郎', 'ひらがな', 'أحمد', 'דוד', 'नमस्ते'],
    // Joiners in emoji and in scripts that need them; variation selectors in emoji and in Japanese names.
    ['👩‍💻', '🏳️‍🌈', '❤️', '葛\u{E0100}城', 'क्‍ष', 'می‌خواهم'],
  ])('may contain what people write', (...names) => {
    expect(names.filter((name) => findNameProblem(name) !== null)).toEqual([]);
  });

  test.each([
    ['a right-to-left override', 'invoice \u202Efdp', 'U+202E'],
    ['an isolate', '\u2066x\u2069', 'U+2066'],
    ['a right-to-left mark', 'a\u200Fb', 'U+200F'],
    ['a zero-width space', 'adm\u200Bin', 'U+200B'],
    ['a joiner between letters that need none', 'adm\u200Din', 'U+200D'],
    ['a joiner at the end', '👩\u200D', 'U+200D'],
    ['a soft hyphen', 'ad\u00ADmin', 'U+00AD'],
    ['a byte order mark inside', 'a\uFEFFb', 'U+FEFF'],
    ['a letter that is not seen', 'a\u3164b', 'U+3164'],
    ['tags', 'a\u{E0041}b', 'U+E0041'],
    ['a line separator', 'a\u2028b', 'U+2028'],
    ['a line break', 'a\nb', 'U+000A'],
    ['an escape', 'a\u001b[31mb', 'U+001B'],
  ])('must not contain %s', (_what, name, character) => {
    expect(findNameProblem(name)).toEqual({
      code: 'hidden_character',
      message: { key: 'identity.name_hidden', params: { character } },
    });
    expect(findNameProblem(cleanName(name))).toBeNull();
  });

  test('has 1 to 255 characters, not counting surrounding white space', () => {
    expect(findNameProblem(` ${'🙂'.repeat(255)}\uFEFF `)).toBeNull();
    for (const name of ['', ' \u3000', 'x'.repeat(256)])
      expect(findNameProblem(name)).toMatchObject({ code: 'invalid_length' });
  });
});
