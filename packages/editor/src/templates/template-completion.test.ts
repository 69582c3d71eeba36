import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { parseTemplate, render } from '@millrace/engine';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type CompletionSetting,
  completionsAt,
  insertPath,
  listMarks,
  takePath,
} from './template-completion.ts';

const HINTS = [{ path: 'trigger.data.name', value: 'Ada' }];
const LIST = [{ price: 3, 'two words': 1 }];
const SETTING: CompletionSetting = {
  hints: HINTS,
  about: (operator) => operator,
  preview(text) {
    const parsed = parseTemplate(text);
    const scope = {
      triggerData: { name: 'Ada', list: LIST },
      executionId: 1,
      vars: {},
      nodeOutput: () => null,
    };
    return parsed.ok ? { kind: 'value', value: render(parsed.template, scope, 1_000) } : null;
  },
};

/** What is offered at the cursor (`¦`). */
function offered(text: string) {
  const at = text.indexOf('¦');
  const state = EditorState.create({ doc: text.replace('¦', '') });
  return completionsAt(new CompletionContext(state, at, false), SETTING);
}

/** The text after accepting a path at the cursor (`|`). */
function taken(text: string): string | null {
  const at = text.indexOf('|');
  const state = EditorState.create({ doc: text.replace('|', '') });
  const found = completionsAt(new CompletionContext(state, at, true), SETTING);
  if (found === null) return null;
  const path = HINTS[0]?.path ?? '';
  return state.update(takePath(state, path, found.from, at)).state.doc.toString();
}

describe('an accepted path', () => {
  test.each([
    ['{{|', '{{trigger.data.name}}'],
    ['{{tri|', '{{trigger.data.name}}'],
    ['{{tri|}}', '{{trigger.data.name}}'],
    ['{{ tri| }}', '{{ trigger.data.name }}'],
    ['{{ tri| ~ upper }}', '{{ trigger.data.name ~ upper }}'],
    ['{{(1 + tri|) }}', '{{(1 + trigger.data.name) }}'],
    ['{{!tri|}}', '{{!trigger.data.name}}'],
    ['{{trigger.da|ta.total}}', '{{trigger.data.name}}'],
    ['{{nodes.fetch.output["two w|ords"].x}}', '{{trigger.data.name}}'],
    ['{{a ~ default: tri|}} and {{b}}', '{{a ~ default: trigger.data.name}} and {{b}}'],
    // Unclosed: what follows is plain text.
    ['p{{tri|lain', 'p{{trigger.data.name}}lain'],
    ['{{tri| and {{b}}', '{{trigger.data.name}} and {{b}}'],
  ])('%s', (text, expected) => {
    expect(taken(text)?.replaceAll('~', '|')).toBe(expected.replaceAll('~', '|'));
  });
});

describe('a path inserted from elsewhere', () => {
  test.each([
    ['|', '{{trigger.data.name}}'],
    ['Hello |!', 'Hello {{trigger.data.name}}!'],
    ['{{id}} |', '{{id}} {{trigger.data.name}}'],
    ['{{|}}', '{{trigger.data.name}}'],
    ['{{tri|}} and', '{{trigger.data.name}} and'],
    ['{{tri|', '{{trigger.data.name}}'],
  ])('%s', (text, expected) => {
    const at = text.indexOf('|');
    const state = EditorState.create({ doc: text.replace('|', ''), selection: { anchor: at } });
    expect(state.update(insertPath(state, 'trigger.data.name')).state.doc.toString()).toBe(expected);
  });

  test('goes where it is dropped, wherever the cursor is', () => {
    const state = EditorState.create({ doc: '{{trigger.data.id}}!', selection: { anchor: 20 } });
    const { state: after } = state.update(insertPath(state, 'trigger.data.name', { from: 6, to: 6 }));
    expect(after.doc.toString()).toBe('{{trigger.data.name}}!');
  });

  test('replaces what is selected', () => {
    const state = EditorState.create({ doc: 'Hello you', selection: { anchor: 6, head: 9 } });
    const { state: after } = state.update(insertPath(state, 'trigger.data.name'));
    expect(after.doc.toString()).toBe('Hello {{trigger.data.name}}');
    expect(after.selection.main.head).toBe(after.doc.length);
  });
});

test('typing narrows the paths, including blanks, quotes and any script', () => {
  const text = '{{nodes.fetch.output["名 前';
  const state = EditorState.create({ doc: text });
  const found = completionsAt(new CompletionContext(state, text.length, false), SETTING);
  expect(found?.from).toBe(2);
  expect('nodes.fetch.output["名 前').toMatch(found?.validFor as RegExp);
});

describe('operators', () => {
  const labels = (text: string) => offered(text)?.options.map(({ label }) => label) ?? [];

  test.each([
    '{{trigger.data.name ¦',
    '{{(1 + 2) ¦',
    '{{"a" =¦',
    '{{trigger.data.name | upper ¦',
    '{{a ? b ¦',
  ])('are offered after a value: %s', (text) => {
    expect(labels(text)).toEqual(expect.arrayContaining(['|', '+', '~', '==', '<=', '&&', '||', '? :']));
  });

  test.each(['{{¦', '{{trigger¦', '{{1 + ¦', '{{a == ¦', '{{a ? ¦', '{{a | default: ¦', '{{!¦', '{{( ¦'])(
    'are not offered where a value stands: %s',
    (text) => {
      expect(labels(text)).toEqual(['trigger.data.name']);
    },
  );
});

describe('filters', () => {
  const infoOf = (text: string, name: string): string | null => {
    const option = offered(text)?.options.find(({ label }) => label === name);
    const info = typeof option?.info === 'function' ? option.info(option) : null;
    return info !== null && 'textContent' in info ? info.textContent : null;
  };
  afterEach(() => vi.unstubAllGlobals());

  test('show what they give for the value before them', () => {
    vi.stubGlobal('document', { createElement: () => ({ textContent: '' }) });
    expect(infoOf('{{trigger.data.name | ¦', 'upper')).toBe('upper → "ADA"');
    expect(infoOf('{{1 + (trigger.data.name | le¦', 'length')).toBe('length → 3');
    expect(infoOf('{{1 + + | ¦', 'upper')).toBeNull();
  });

  test('are not offered after ||', () => {
    expect(offered('{{trigger.data.name || ¦')?.options.map(({ label }) => label)).toEqual([
      'trigger.data.name',
    ]);
  });

  test('offer the members of an item', () => {
    const paths = offered('{{trigger.data.list | where: (it.pr¦')?.options.map(({ label }) => label);
    expect(paths).toEqual(['it', 'it.price', 'it["two words"]', 'trigger.data.name']);
  });
});

test('marks templates as the engine reads them, and what it does not understand', () => {
  const marked = (text: string) =>
    listMarks(text).map(({ from, to, isMistake }) => `${isMistake ? '!' : ''}${text.slice(from, to)}`);
  expect(marked('a {{b | default: "}}"}} \\{{c}} {{d}}')).toEqual(['{{b | default: "}}"}}', '{{d}}']);
  expect(marked('{{a | shout}} {{b}}')).toEqual(['{{a | shout}}', '!shout', '{{b}}']);
  expect(marked('{{a = 1}}')).toEqual(['{{a = 1}}', '!=']);
  expect(marked('x {{trigger.data.')).toEqual(['{{trigger.data.']);
  expect(marked('{{a + }}')).toEqual(['{{a + }}']);
});
