import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  insertCompletionText,
  pickedCompletion,
} from '@codemirror/autocomplete';
import type { EditorState, TransactionSpec } from '@codemirror/state';
import { FILTERS } from '@millrace/engine';
import { presentMessage } from '@millrace/messages/english';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { type PathHint, showValue } from '../form/template-scope.ts';

/** A full or partial path; quoted parts may contain any characters. */
const PATH_BEFORE = /(?:[^\s{|:,"]|"[^"]*"?)*$/;
const PATH = /^(?:[^\s{|:,"]|"[^"]*"?)*$/;
const REST_OF_PATH = /^(?:[^\s{}|:,"]|"[^"]*")*/;
const REST_OF_QUOTED_PATH = /^[^"{}]*"(?:[^\s{}|:,"]|"[^"]*")*/;

/** Completes paths inside braces, filters after `|`, and, on request, whole templates outside. */
export function completionsAt(
  context: CompletionContext,
  hints: readonly PathHint[],
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
  const filter = /\|\s*(\w*)$/.exec(before.slice(open));
  if (filter !== null) {
    const options = [...FILTERS].map(([name, { usage }]) => ({
      label: name,
      detail: translateMessage(presentMessage(usage(name))),
      type: 'function',
    }));
    return { from: context.pos - (filter[1]?.length ?? 0), options };
  }
  const typed = PATH_BEFORE.exec(before.slice(open + 2))?.[0] ?? '';
  const options = hints.map(
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

/** Inserts a path at the cursor: within braces it replaces what is typed of a path, elsewhere it gets braces of its own. */
export function insertPath(state: EditorState, path: string): TransactionSpec {
  const { from, to } = state.selection.main;
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
