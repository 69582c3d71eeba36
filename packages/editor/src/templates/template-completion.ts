import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  insertCompletionText,
  pickedCompletion,
} from '@codemirror/autocomplete';
import type { EditorState, TransactionSpec } from '@codemirror/state';
import { membersOf, type PathHint, type Preview, showValue } from '@millrace/editor-model/known-values.ts';
import { FILTERS, isJsonArray, listTemplates } from '@millrace/engine';
import { loadFilters } from '@millrace/templates/template-filters-page';

// What is offered is every filter.
await loadFilters();

/** A full or partial path; quoted parts may contain any characters. */
const PATH_BEFORE = /(?:[^\s{|:,"()!]|"[^"]*"?)*$/;
const PATH = /^(?:[^\s{|:,"()!]|"[^"]*"?)*$/;
const REST_OF_PATH = /^(?:[^\s{}|:,"()]|"[^"]*")*/;
const REST_OF_QUOTED_PATH = /^[^"{}]*"(?:[^\s{}|:,"()]|"[^"]*")*/;
/** A value and white space: an operator may follow, or a filter. */
const VALUE_BEFORE = /[^\s|:,(!?&<>=~+*/%-]\s+([|?&<>=~+*/%!-]*)$/;
/** An expression for each item, as far as it is written, and the list before it. */
const EACH_BEFORE = /^(.*)\|\s*(?:map|where|sort|unique|sum|average|min|max)\s*:\s*\(([^()]*)$/s;

/** Operators; those that don't speak for themselves have a text on the page. */
const OPERATORS = [
  '|',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  '&&',
  '||',
  '??',
  '? :',
  '+',
  '-',
  '*',
  '/',
  '%',
  '~',
];
const EXPLAINED = {
  '||': 'or',
  '??': 'fallback',
  '? :': 'choice',
  '~': 'join',
} as const;

/** What is known where a template is written. */
export interface CompletionSetting {
  readonly hints: readonly PathHint[];
  readonly preview: (text: string) => Preview | null;
  /** What an operator does, in the language of the page. */
  readonly about: (operator: (typeof EXPLAINED)[keyof typeof EXPLAINED]) => string;
}

/** Completes paths inside braces, filters after `|`, operators after a value, and, on request, whole templates outside. */
export function completionsAt(
  context: CompletionContext,
  { hints, preview, about }: CompletionSetting,
): CompletionResult | null {
  const before = context.state.sliceDoc(0, context.pos);
  const open = before.lastIndexOf('{{');
  const isInside = open !== -1 && !before.slice(open).includes('}}');
  if (!isInside) {
    if (!context.explicit) return null;
    return {
      from: context.pos,
      options: hints.map((hint) => ({ ...optionOf(hint), apply: `{{${hint.path}}}` })),
    };
  }
  const inside = before.slice(open + 2);
  const filter = /(?<!\|)\|\s*(\w*)$/.exec(inside);
  if (filter !== null) {
    const piped = openPart(inside.slice(0, filter.index));
    return { from: context.pos - (filter[1]?.length ?? 0), options: filterOptions(piped, preview) };
  }
  const [, symbol] = VALUE_BEFORE.exec(inside) ?? [];
  if (symbol !== undefined) {
    const names: { readonly [label: string]: Parameters<typeof about>[0] | undefined } = EXPLAINED;
    const options = OPERATORS.map((label, index): Completion => {
      const name = names[label];
      // In this order, not by their characters.
      const option = { label, boost: -index };
      return name === undefined ? option : { ...option, detail: about(name) };
    });
    return { from: context.pos - symbol.length, options, validFor: /^[|?&<>=~+*/%!:-]*$/ };
  }
  const typed = PATH_BEFORE.exec(inside)?.[0] ?? '';
  const options = [...itemHints(inside, preview), ...hints].map(
    (hint): Completion => ({
      ...optionOf(hint),
      apply: (view, completion, from, to) =>
        view.dispatch({
          ...takePath(view.state, hint.path, from, to),
          annotations: pickedCompletion.of(completion),
        }),
    }),
  );
  return { from: context.pos - typed.length, options, validFor: PATH };
}

/** Each filter with an example of its arguments, and with what an example of it gives for the value before it. */
function filterOptions(piped: string, preview: CompletionSetting['preview']): Completion[] {
  return [...FILTERS].map(([name, { usage }]) => {
    const said = usage(name);
    const given = said.params?.example;
    const example = typeof given === 'string' ? given : name;
    return {
      label: name,
      ...(example === name ? {} : { detail: example }),
      type: 'function',
      info() {
        const result = preview(`{{${piped}| ${example}}}`);
        if (result?.kind !== 'value') return null;
        const shown = document.createElement('span');
        shown.textContent = `${example} → ${showValue(result.value)}`;
        return shown;
      },
    };
  });
}

/** What follows the last parenthesis that is still open. */
function openPart(text: string): string {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === ')') depth += 1;
    if (text[at] !== '(') continue;
    depth -= 1;
    if (depth < 0) return text.slice(at + 1);
  }
  return text;
}

/** What can be read of the items of a list, within an expression for each. */
function itemHints(inside: string, preview: CompletionSetting['preview']): readonly PathHint[] {
  const [, list] = EACH_BEFORE.exec(inside) ?? [];
  if (list === undefined) return [];
  const result = preview(`{{${openPart(list)}}}`);
  const value = result?.kind === 'value' && isJsonArray(result.value) ? result.value[0] : undefined;
  const item = { path: 'it', value };
  return [item, ...membersOf(item)];
}

/** Where the templates of a text are to be marked, and which characters can't be understood; what is unfinished is no mistake. */
export function listMarks(
  text: string,
): readonly { readonly from: number; readonly to: number; readonly isMistake: boolean }[] {
  return listTemplates(text).flatMap(({ start, end, error }) => {
    const whole = { from: start, to: end, isMistake: false };
    if (error === null) return [whole];
    const { offset } = error;
    const isUnfinished = offset >= text.length || text.startsWith('}}', offset);
    return isUnfinished
      ? [whole]
      : [whole, { from: offset, to: offset + wordAt(text, offset), isMistake: true }];
  });
}

/** How many characters of a word, or of whatever else it is, are marked. */
function wordAt(text: string, offset: number): number {
  return /^(?:[\p{L}\p{N}_]+|.\p{M}*)/su.exec(text.slice(offset, offset + 100))?.[0].length ?? 1;
}

/** Inserts a path at the cursor or a place: within braces it replaces what is typed of a path, elsewhere it gets braces of its own. */
export function insertPath(
  state: EditorState,
  path: string,
  { from, to }: { readonly from: number; readonly to: number } = state.selection.main,
): TransactionSpec {
  const before = state.sliceDoc(0, from);
  const open = before.lastIndexOf('{{');
  if (open !== -1 && !before.slice(open).includes('}}')) {
    const typed = PATH_BEFORE.exec(before.slice(open + 2))?.[0] ?? '';
    return takePath(state, path, from - typed.length, to);
  }
  const text = `{{${path}}}`;
  return { changes: { from, to, insert: text }, selection: { anchor: from + text.length } };
}

/** Replaces the partial path and closes the braces if needed. */
export function takePath(state: EditorState, path: string, from: number, to: number): TransactionSpec {
  const after = state.sliceDoc(to);
  const close = after.indexOf('}}');
  const next = after.indexOf('{{');
  // Unclosed: what follows isn't part of the template.
  if (close === -1 || (next !== -1 && next < close))
    return insertCompletionText(state, `${path}}}`, from, to);
  const isQuoted = state.sliceDoc(from, to).split('"').length % 2 === 0;
  const rest = (isQuoted ? REST_OF_QUOTED_PATH : REST_OF_PATH).exec(after)?.[0] ?? '';
  return insertCompletionText(state, path, from, to + rest.length);
}

function optionOf({ path, value }: PathHint) {
  return value === undefined ? { label: path } : { label: path, detail: showValue(value).slice(0, 60) };
}
