import vm from 'node:vm';
import { extend } from '@millrace/importer-kit/refs';
import { describe, expect, test } from 'vitest';
import { readJinja } from './jinja.ts';
import { JinjaError } from './jinja-error.ts';

const asPath = (name: string, members: readonly string[]) => extend(`vars.${name}`, members);

function textOf(source: string): string | null {
  const made = readJinja(source, asPath, (text) => text.replaceAll('{{', '\\{{'));
  return 'text' in made ? made.text : null;
}

/** What the code makes, run by the same language. */
function result(source: string, input: object): unknown {
  const made = readJinja(
    source,
    () => null,
    (text) => text,
  );
  if (!('code' in made)) throw new Error('it is a template');
  return vm.runInNewContext(`((input) => {${made.code}})(${JSON.stringify(input)})`);
}

describe('readJinja', () => {
  test.each([
    ['Hello {{ name }}!', 'Hello {{vars.name}}!'],
    ['{{ a.b[0]["c d"] | upper }}', '{{vars.a.b[0]["c d"] | upper}}'],
    [
      '<p>{{ name | e }}{{ name | escape }}</p>',
      '<p>{{vars.name | html_escape}}{{vars.name | html_escape}}</p>',
    ],
    ["{{ tags | join(', ') }}{# nothing #}", '{{vars.tags | join: ", "}}'],
    ['a {{- x -}} b', 'a{{vars.x}}b'],
    ['no braces: {% raw %}{{ x }}{% endraw %}\n', 'no braces: \\{{ x }}'],
  ])('%j becomes a template', (source, expected) => {
    expect(textOf(source)).toBe(expected);
  });

  test.each([
    ['{% for each in list %}{{ loop.index }}. {{ each.name }}\n{% endfor %}', '1. a\n2. b\n'],
    ['{% for each in none_list %}x{% else %}empty{% endfor %}', 'empty'],
    ['{% for each in list if each.n > 1 %}{{ each.name }}{% endfor %}', 'b'],
    ['{% for key, value in map.items() %}{{ key }}={{ value }};{% endfor %}', 'x=1;y=2;'],
    ['{% if n >= 3 and not off %}yes{% elif n == 2 %}two{% else %}no{% endif %}', 'two'],
    ['{% set total = n * 2 + 1 %}{{ total }}', '5'],
    ['{{ "big" if n > 1 else "small" }}', 'big'],
    ["{{ missing | default('none') }}{{ text[1:3] }}", 'noneel'],
    ['{{ list | length }}{{ list | map("name") | join("-") }}', '2a-b'],
    ['{{ "a" in text }}{{ missing is defined }}', 'falsefalse'],
    ["{{ text.replace('l', 'L').upper() }}{{ n ** 2 ~ '!' }}", 'HELLO4!'],
    ['{{ (text ~ "<&>\\"\'") | e }}', 'hello&lt;&amp;&gt;&#34;&#39;'],
    ['{{ list | tojson }}', '[{"name":"a","n":1},{"name":"b","n":2}]'],
  ])('%j becomes code', (source, expected) => {
    const list = [
      { name: 'a', n: 1 },
      { name: 'b', n: 2 },
    ];
    expect(
      result(source, { list, none_list: [], map: { x: 1, y: 2 }, n: 2, off: false, text: 'hello' }),
    ).toBe(expected);
  });

  test.each([
    '{% include "x" %}',
    '{{ x | unknown }}',
    '{{ x.method() }}',
    '{% if x %}',
    '{{ x',
    '{{ ((x }}',
    `{{ ${'('.repeat(100)}x${')'.repeat(100)} }}`,
    '{% macro f() %}{% endmacro %}',
    '{{ x"); evil(" }}',
  ])('%j is refused', (source) => {
    expect(() =>
      readJinja(
        source,
        () => null,
        (text) => text,
      ),
    ).toThrow(JinjaError);
  });

  test('a name reads own members only', () => {
    expect(result('{{ a.constructor }}{% if 1 %}{% endif %}{{ constructor }}', { a: {} })).toBe('');
  });
});
