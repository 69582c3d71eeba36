import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { describe, expect, test } from 'vitest';
import { completionsAt, insertPath, takePath } from './template-completion.ts';

const HINTS = [{ path: 'trigger.data.name', value: 'Ada' }];

/** The text after accepting a path at the cursor (`|`). */
function taken(text: string): string | null {
  const at = text.indexOf('|');
  const state = EditorState.create({ doc: text.replace('|', '') });
  const found = completionsAt(new CompletionContext(state, at, true), HINTS);
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
  const found = completionsAt(new CompletionContext(state, text.length, false), HINTS);
  expect(found?.from).toBe(2);
  expect('nodes.fetch.output["名 前').toMatch(found?.validFor as RegExp);
});
