import { describe, expect, test } from 'vitest';
import { serviceJa } from './ja.ts';
import { translate, translateSentence } from './sentences.ts';

const ja = (text: string): string => translateSentence(text, serviceJa);

describe('a sentence of the service in Japanese', () => {
  test.each([
    ['is required', '必須です'],
    ['"Fetch": "url" is required', '「Fetch」: 「url」は必須です'],
    ['"Fetch": the config must be an object', '「Fetch」: 設定はオブジェクトでなければなりません'],
    ['must have at least 12 characters', '12 文字以上必要です'],
    ['must be a string or null', 'テキストまたは null でなければなりません'],
    [
      '"Second": "First \\"one\\"" is the trigger already; a workflow has one',
      '「Second」: トリガーはすでに「First "one"」があります。ワークフローのトリガーは 1 つです',
    ],
    [
      'there is no filter "uper"; the filters are upper, lower (at character 3)',
      '「uper」というフィルターはありません。使えるのは upper, lower です（3 文字目）',
    ],
    [
      'the filter "map" takes one argument, the field to take of each item: map: "address.city" (at character 9)',
      'フィルター「map」の引数が合いません（各要素から取り出す項目を 1 つ）。例: map: "address.city"（9 文字目）',
    ],
  ])('%s', (english, japanese) => {
    expect(ja(english)).toBe(japanese);
  });

  test('stays as it is when nobody has translated it, whatever is in it', () => {
    for (const text of ['No such thing.', '', '"', '{} {}', '$& $1 (.*) [', `"${'x'.repeat(10_000)}": y`]) {
      expect(translate(text, serviceJa)).toBeNull();
      expect(ja(text)).toBe(text);
    }
  });

  test('shows data as it is: nothing in it is taken for a pattern', () => {
    expect(ja('there is no node "$1 {0} {1}"')).toBe('ノード「$1 {0} {1}」はありません');
  });
});
