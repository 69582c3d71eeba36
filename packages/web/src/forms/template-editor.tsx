import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  type CompletionSource,
  completionKeymap,
} from '@codemirror/autocomplete';
import { EditorState, type Extension } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  MatchDecorator,
  placeholder as placeholderText,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { FILTERS } from '@millrace/engine';
import { type RefObject, useEffect, useMemo, useRef } from 'react';
import { useCodeView } from '../ui/use-code-view.ts';
import { type PathHint, showValue } from './template-scope.ts';

export interface TemplateEditorProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly label: string;
  readonly hints: () => readonly PathHint[];
  readonly isMultiline?: boolean;
  readonly placeholder?: string;
  readonly isReadOnly?: boolean;
  /** See `useCodeView`. */
  readonly startAt?: RefObject<number | null>;
}

const TEMPLATES = new MatchDecorator({
  regexp: /\{\{[^{}]*\}\}/g,
  decoration: Decoration.mark({ class: 'cm-template' }),
});

const highlightTemplates = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = TEMPLATES.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.decorations = TEMPLATES.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

/** A text with templates: they are marked, and what they can read is offered while one types. */
export default function TemplateEditor(props: TemplateEditorProps) {
  const { value, onChange, isMultiline = false, isReadOnly = false, label, placeholder = '' } = props;
  // Read when something is typed, so that new values need no new editor.
  const hints = useRef(props.hints);
  useEffect(() => {
    hints.current = props.hints;
  }, [props.hints]);
  const setup = useMemo(
    () =>
      setupOf({ isMultiline, isReadOnly, placeholder }, (context) => completionsAt(context, hints.current())),
    [isMultiline, isReadOnly, placeholder],
  );
  const frame = useCodeView({
    value,
    onChange,
    attributes: { 'aria-label': label, ...(isMultiline ? { 'aria-multiline': 'true' } : {}) },
    setup,
    startAt: props.startAt,
  });
  return <div ref={frame} className="code-frame" />;
}

function setupOf(
  {
    isMultiline,
    isReadOnly,
    placeholder,
  }: Required<Pick<TemplateEditorProps, 'isMultiline' | 'isReadOnly' | 'placeholder'>>,
  complete: CompletionSource,
): Extension {
  return [
    highlightTemplates,
    autocompletion({ override: [complete], activateOnTyping: true, icons: false }),
    keymap.of([...completionKeymap]),
    isMultiline ? EditorView.lineWrapping : oneLine(),
    placeholderText(placeholder),
    EditorState.readOnly.of(isReadOnly),
    EditorView.editable.of(!isReadOnly),
    EditorView.theme({
      '.cm-content': { padding: '4px 0', minHeight: isMultiline ? '64px' : '20px' },
      '.cm-scroller': { overflow: isMultiline ? 'auto' : 'hidden', maxHeight: '320px' },
    }),
  ];
}

/** Line breaks become blanks, however they come in. */
function oneLine(): Extension {
  return EditorState.transactionFilter.of((transaction) => {
    if (!transaction.docChanged || transaction.newDoc.lines === 1) return transaction;
    const insert = transaction.newDoc.toString().replace(/\s*\n\s*/g, ' ');
    return {
      changes: { from: 0, to: transaction.startState.doc.length, insert },
      selection: { anchor: insert.length },
    };
  });
}

/** Paths inside of braces; after a `|` the filters; outside, on demand, whole templates. */
function completionsAt(context: CompletionContext, hints: readonly PathHint[]): CompletionResult | null {
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
      detail: usage,
      type: 'function',
    }));
    return { from: context.pos - (filter[1]?.length ?? 0), options };
  }
  const typed = /[^\s{|:,]*$/.exec(before.slice(open + 2))?.[0] ?? '';
  const isClosed = context.state.sliceDoc(context.pos, context.pos + 2) === '}}';
  const options = hints.map((hint) => ({ ...optionOf(hint), apply: hint.path + (isClosed ? '' : '}}') }));
  return { from: context.pos - typed.length, options, validFor: /^[\w.[\]"-]*$/ };
}

function optionOf({ path, value }: PathHint) {
  return value === undefined ? { label: path } : { label: path, detail: showValue(value).slice(0, 60) };
}
