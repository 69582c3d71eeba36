import type { Message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { saying } from '@millrace/messages/testing';
import { runs } from '@millrace/testing/property-runs';
import { type JsonObject, type JsonValue, parseJson, stringifyJson } from '@millrace/values/json';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTemplate, parseTemplates } from '../src/template.ts';
import { RenderLimitError } from '../src/template-filter.ts';
import { render, type TemplateScope } from '../src/template-render.ts';

const LIMIT = 1_000_000;

function scopeWith(triggerData: JsonValue, over: Partial<TemplateScope> = {}): TemplateScope {
  return { triggerData, executionId: 42, vars: {}, nodeOutput: () => null, ...over };
}

function rendered(text: string, triggerData: JsonValue = {}, over: Partial<TemplateScope> = {}): JsonValue {
  const parsed = parseTemplate(text);
  if (!parsed.ok) throw new Error(inEnglish(parsed.error.message));
  return render(parsed.template, scopeWith(triggerData, over), LIMIT);
}

function errorOf(text: string): { code: string; offset: number; message: Message } {
  const parsed = parseTemplate(text);
  if (parsed.ok) throw new Error(`${text} was understood`);
  return parsed.error;
}

describe('templates', () => {
  it.each(['', 'plain', '{ "a": {"b": 1}}', '}}', '\\', '\\n {', '{ {x} }'])(
    'T1: %j stays as it is',
    (text) => {
      expect(rendered(text)).toBe(text);
    },
  );

  it('T1: member names are not templates', () => {
    const { template, errors } = parseTemplates({
      '{{trigger.data.x}}': '{{trigger.data.x}}',
      __proto__x: 1,
    });
    expect(errors).toEqual([]);
    expect(render(template, scopeWith({ x: 5 }), LIMIT)).toEqual({ '{{trigger.data.x}}': 5, __proto__x: 1 });
  });

  it('T1: a part of a config without templates is passed on, not copied', () => {
    const config = { fixed: { a: [1] }, list: ['{{execution.id}}', 'b'] };
    const result = render(parseTemplates(config).template, scopeWith({}), LIMIT) as typeof config;
    expect(result).toEqual({ fixed: { a: [1] }, list: [42, 'b'] });
    expect(result.fixed).toBe(config.fixed);
  });

  it('T2: a single expression keeps the type', () => {
    const data = parseJson('{"n":1,"big":9007199254740993,"list":[1],"no":null,"yes":true}') as JsonObject;
    expect(rendered('{{trigger.data.n}}', data)).toBe(1);
    expect(rendered('{{ trigger.data.list }}', data)).toEqual([1]);
    expect(rendered('{{trigger.data.no}}', data)).toBeNull();
    expect(rendered('{{trigger.data.missing.deeper}}', data)).toBeNull();
    expect(stringifyJson(rendered('{{trigger.data.big}}', data))).toBe('9007199254740993');
    expect(rendered('{{trigger.data}}', 7)).toBe(7);
    expect(rendered(' {{trigger.data.n}}', data)).toBe(' 1');
  });

  it('T3: inside text values become text', () => {
    const data = parseJson(
      '{"s":"a\\"b","n":1.5,"big":9007199254740993,"list":[1,"x"],"no":null,"yes":true}',
    );
    expect(rendered('<{{trigger.data.s}}>', data)).toBe('<a"b>');
    expect(rendered('{{trigger.data.n}}-{{trigger.data.yes}}', data)).toBe('1.5-true');
    expect(rendered('[{{trigger.data.no}}{{trigger.data.missing}}]', data)).toBe('[]');
    expect(rendered('={{trigger.data.list}}', data)).toBe('=[1,"x"]');
    expect(rendered('={{trigger.data.big}}', data)).toBe('=9007199254740993');
  });

  it('T4: every kind of path', () => {
    const nodeOutput = (id: string): JsonObject | null =>
      ({ a: { x: [{ y: 1 }] }, 'weird "id" 1.2': { 'key with space': { 'ä-b': 2 } } })[id] ?? null;
    const over = { nodeOutput, vars: { url: 'u' }, item: { k: 3 }, index: 4 };
    expect(rendered('{{nodes.a.output.x[0].y}}', {}, over)).toBe(1);
    expect(rendered('{{nodes.a.output.x.0["y"]}}', {}, over)).toBe(1);
    expect(rendered('{{nodes["weird \\"id\\" 1.2"].output["key with space"].ä-b}}', {}, over)).toBe(2);
    expect(rendered("{{ nodes['a'].output[ 'x' ][ 0 ].y }}", {}, over)).toBe(1);
    expect(rendered('{{execution.id}}', {}, over)).toBe(42);
    expect(rendered('{{vars.url}}', {}, over)).toBe('u');
    expect(rendered('{{item.k}}', {}, over)).toBe(3);
    expect(rendered('{{index}}', {}, over)).toBe(4);
    expect(rendered('{{item}}')).toBeNull();
    expect(rendered('{{nodes.unknown.output}}', {}, over)).toBeNull();
  });

  it.each([
    'constructor',
    '__proto__',
    '__proto__.x',
    'toString',
    'trigger',
    'trigger.constructor',
    'trigger.data.__proto__',
    'trigger.data.constructor.prototype',
    'trigger.data.toString',
    'trigger.data.list.length',
    'trigger.data.list.map',
    'trigger.data.list.-1',
    'trigger.data.list.01',
    'trigger.data.list.1e0',
    'trigger.data.text.length',
    'trigger.data.text[0]',
    'trigger.data.big.rawJSON',
    'nodes.constructor.output',
    'nodes.a',
    'vars.constructor',
    'vars',
    'execution.constructor',
    'process.env',
    'globalThis',
  ])('T5: {{%s}} reads nothing', (path) => {
    const data = parseJson('{"list":[1,2],"text":"abc","big":1e400}');
    expect(rendered(`{{${path}}}`, data, { nodeOutput: () => ({}) })).toEqual(
      path === 'nodes.constructor.output' ? {} : null,
    );
  });

  it('T5: own members with such names are data', () => {
    const data = parseJson('{"__proto__":{"x":1},"constructor":2,"length":3}');
    expect(rendered('{{trigger.data.__proto__.x}}', data)).toBe(1);
    expect(rendered('{{trigger.data.constructor}}', data)).toBe(2);
    expect(rendered('{{trigger.data.length}}', data)).toBe(3);
    const { template } = parseTemplates(parseJson('{"__proto__":"{{execution.id}}"}'));
    expect(stringifyJson(render(template, scopeWith({}), LIMIT))).toBe('{"__proto__":42}');
  });

  it('T6: the content of a value is never read as a template', () => {
    const data = { inner: '{{execution.id}}', open: '{{', close: 'execution.id}}' };
    expect(rendered('{{trigger.data.inner}}', data)).toBe('{{execution.id}}');
    expect(rendered('a {{trigger.data.inner}} b', data)).toBe('a {{execution.id}} b');
    expect(rendered('{{trigger.data.open}}{{trigger.data.close}}', data)).toBe('{{execution.id}}');
    expect(rendered('{{trigger.data.x | default: "{{execution.id}}"}}', data)).toBe('{{execution.id}}');
  });

  it('T7: backslashes before two braces', () => {
    expect(rendered('\\{{trigger.data}}')).toBe('{{trigger.data}}');
    expect(rendered('a\\{{b\\{{c')).toBe('a{{b{{c');
    expect(rendered('\\\\{{trigger.data}}', 'x')).toBe('\\x');
    expect(rendered('\\\\\\{{trigger.data}}', 'x')).toBe('\\{{trigger.data}}');
    expect(rendered('c:\\dir {{trigger.data}}\\n', 'x')).toBe('c:\\dir x\\n');
    expect(rendered('{{trigger.data}}\\{{{{trigger.data}}', 'x')).toBe('x{{x');
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['default: "none"', null, 'none'],
    ['default: "none"', '', 'none'],
    ['default: "none"', 0, 0],
    ['default: "none"', false, false],
    ['default: trigger.data.other', null, null],
    ['upper', 'aß', 'ASS'],
    ['upper', null, ''],
    ['lower', 'AÄ', 'aä'],
    ['trim', ' a ', 'a'],
    ['length', '😀a', 2],
    ['length', [1, 2, 3], 3],
    ['length', { a: 1 }, 1],
    ['length', null, 0],
    ['length', 12, 0],
    ['first', [1, 2], 1],
    ['first', [], null],
    ['first', '😀a', '😀'],
    ['first', 5, null],
    ['last', [1, 2], 2],
    ['last', 'a😀', '😀'],
    ['last', '', null],
    ['join', ['a', 1, null, { b: 1 }], 'a, 1, , {"b":1}'],
    ['join: "-"', ['a', 'b'], 'a-b'],
    ['join', 'a', 'a'],
    ['split', 'a,b', ['a', 'b']],
    ['split: "|"', 'a|b', ['a', 'b']],
    ['split: ""', 'a😀', ['a', '😀']],
    ['split', '', []],
    ['json', { a: [1] }, '{"a":[1]}'],
    ['json', 'a', '"a"'],
    ['number', ' 12.5 ', 12.5],
    ['number', '0x10', null],
    ['number', '', null],
    ['number', true, null],
    ['number', 7, 7],
    ['string', 7, '7'],
    ['string', null, ''],
    ['keys', { b: 1, a: 2 }, ['b', 'a']],
    ['keys', [1], []],
    ['round', 1.5, 2],
    ['round', -1.5, -2],
    ['round: 2', 1.005, 1.01],
    ['round: 2', '2.345', 2.35],
    ['round', 1e300, 1e300],
    ['round: 1', 0.04, 0],
    ['round', 'x', null],
    ['round: 3', 0.0000001, 0],
    ['split | last | upper', 'a,b', 'B'],
    ["default: 'it''s'", 1, 1],
  ])('T8: %s of %j', (filters, value, expected) => {
    const text = `{{trigger.data.v | ${filters}}}`;
    if (filters.includes("''")) expect(errorOf(text).code).toBe('template_syntax');
    else expect(rendered(text, { v: value })).toEqual(expected);
  });

  it('T8: numbers beyond a double stay exact', () => {
    const data = parseJson('{"big":9007199254740993}');
    expect(stringifyJson(rendered('{{trigger.data.big | round}}', data))).toBe('9007199254740993');
    expect(stringifyJson(rendered('{{trigger.data.text | number}}', { text: '9007199254740993' }))).toBe(
      '9007199254740993',
    );
    expect(rendered('{{trigger.data.big | string}}', data)).toBe('9007199254740993');
  });

  it('T9: arguments of every kind', () => {
    const value = (arg: string): JsonValue =>
      rendered(`{{trigger.data.no | default: ${arg} }}`, { other: [1] });
    expect(value('"a \\"b\\" }} | \\n"')).toBe('a "b" }} | \n');
    expect(value("'it\\'s'")).toBe("it's");
    expect(value('-1.5e2')).toBe(-150);
    expect(value('true')).toBe(true);
    expect(value('null')).toBeNull();
    expect(value('trigger.data.other')).toEqual([1]);
    expect(value('trigger.data["other"][0]')).toBe(1);
    expect(stringifyJson(value('9007199254740993'))).toBe('9007199254740993');
  });

  it('T10: texts that would exceed the limit are refused', () => {
    const { template } = parseTemplates(Array.from({ length: 20 }, () => 'x{{trigger.data}}'));
    expect(() => render(template, scopeWith('y'.repeat(100)), 1_000)).toThrow(RenderLimitError);
    expect(render(template, scopeWith('y'), 1_000)).toHaveLength(20);
    let shared: JsonValue = 'x';
    for (let level = 0; level < 100; level++) shared = [shared, shared];
    for (const text of [
      'a{{trigger.data}}',
      '{{trigger.data | json}}',
      '{{trigger.data | upper}}',
      '{{trigger.data | join}}',
    ]) {
      expect(() => rendered(text, shared)).toThrow(RenderLimitError);
    }
    expect(rendered('{{trigger.data}}', shared)).toBe(shared);
  });

  it.each([
    ['あ', 3],
    ['é', 2],
    ['😀', 4],
    ['a', 1],
  ])('counts %s as %i bytes, in texts and in filters', (char, bytes) => {
    const text = char.repeat(100);
    const joined = parseTemplates('{{trigger.data}}!').template;
    expect(render(joined, scopeWith(text), 100 * bytes + 1)).toBe(`${text}!`);
    expect(() => render(joined, scopeWith(text), 100 * bytes)).toThrow(RenderLimitError);
    for (const filter of ['trim', 'string', 'replace: "z", "y"']) {
      const filtered = parseTemplates(`{{trigger.data | ${filter}}}`).template;
      expect(render(filtered, scopeWith(text), 100 * bytes)).toBe(text);
      expect(() => render(filtered, scopeWith(text), 100 * bytes - 1), filter).toThrow(RenderLimitError);
    }
  });

  it.each<[string, number, RegExp]>([
    ['ab {{', 5, /not closed; add }}/],
    ['{{trigger.data', 14, /not closed; add }}.*\\\{\{/],
    ['{{ }}', 3, /empty/],
    ['{{{trigger.data}}}', 2, /a value must stand here/],
    ['{{ {{trigger.data}} }}', 3, /a value must stand here/],
    ['{{trigger..data}}', 10, /name must follow the dot/],
    ['{{trigger.data[x]}}', 15, /\["first name"\]/],
    ['{{trigger.data["x}}', 15, /no closing quote/],
    ['{{trigger.data["x"}}', 18, /closing \] is missing/],
    ['{{trigger.data $ 1}}', 15, /unexpected "\$"/],
    ['{{trigger.data()}}', 14, /unexpected "\("/],
    ['{{trigger.data | }}', 17, /name of a filter/],
    ['{{trigger.data | upper: 1}}', 17, /takes no argument/],
    ['{{trigger.data | default}}', 17, /takes one argument/],
    ['{{trigger.data | default: "\\x"}}', 27, /are escapes in a string/],
  ])('T11: %s is an error at %i', (text, offset, message) => {
    expect(errorOf(text)).toMatchObject({
      code: 'template_syntax',
      offset,
      message: saying(message),
    });
  });

  it('T11: an unknown filter is reported with the available ones', () => {
    expect(errorOf('{{trigger.data | shout}}')).toMatchObject({
      code: 'unknown_filter',
      offset: 17,
      message: saying(/"shout".*default, upper/),
    });
  });

  it('T11: errors in a config say where they are', () => {
    const { errors } = parseTemplates({ a: ['ok', '{{'], 'b/c': '{{ }}' }, '/config');
    expect(errors.map(({ pointer }) => pointer)).toEqual(['/config/a/1', '/config/b~1c']);
  });

  it('T5 T11: any text parses or is an error, and renders without running anything', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      '{',
      '\\',
      '|',
      ':',
      ',',
      '.',
      '[',
      ']',
      '"',
      "'",
      ' ',
      '0',
      '-1',
      'trigger',
      'data',
      'nodes',
      'constructor',
      '__proto__',
      'output',
      'default',
      'join',
      'split',
      'round',
      'keys',
      'json',
      'length',
      '()',
      '=>',
      '`',
      '${',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, fc.jsonValue(), (template, data) => {
        const parsed = parseTemplate(template);
        if (!parsed.ok) {
          expect(parsed.error.offset).toBeLessThanOrEqual(template.length);
          return;
        }
        const value = render(parsed.template, scopeWith(data as JsonValue), LIMIT);
        expect(value === null || ['string', 'number', 'boolean', 'object'].includes(typeof value)).toBe(true);
        expect(value).not.toBe(Object.prototype);
      }),
      { numRuns: runs(5_000) },
    );
  });

  it('T8: filters are total', () => {
    const filter = fc.constantFrom(
      'default: "d"',
      'upper',
      'lower',
      'trim',
      'length',
      'first',
      'last',
      'join',
      'join: 1',
      'split',
      'split: ""',
      'json',
      'number',
      'string',
      'keys',
      'round',
      'round: 99',
      'round: "x"',
    );
    fc.assert(
      fc.property(fc.array(filter, { maxLength: 4 }), fc.jsonValue(), (filters, data) => {
        const value = rendered(
          `{{trigger.data${filters.map((name) => ` | ${name}`).join('')}}}`,
          data as JsonValue,
        );
        expect(() => stringifyJson(value)).not.toThrow();
        expect(value).not.toBeUndefined();
        if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
