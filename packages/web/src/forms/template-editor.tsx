import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
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
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { codeTheme } from '../ui/code-theme.ts';
import { type PathHint, showValue } from './template-scope.ts';

export interface TemplateEditorProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly label: string;
  readonly hints: () => readonly PathHint[];
  readonly isMultiline?: boolean;
  readonly placeholder?: string;
  readonly isReadOnly?: boolean;
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
  const { value, isMultiline = false, isReadOnly = false, label, placeholder = '' } = props;
  const frame = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const change = useEffectEvent((text: string) => props.onChange(text));
  const complete = useEffectEvent((context: CompletionContext) => completionsAt(context, props.hints()));
  const first = useEffectEvent(() => props.value);
  // A new label must not make a new editor: somebody may have just clicked into this one.
  const [labelled] = useState(() => new Compartment());
  const attributes = useEffectEvent(() => attributesOf(label, isMultiline));

  useEffect(() => {
    if (frame.current === null) return;
    const editor = new EditorView({
      parent: frame.current,
      state: EditorState.create({
        doc: first(),
        extensions: [
          codeTheme(),
          history(),
          highlightTemplates,
          autocompletion({
            override: [(context) => complete(context)],
            activateOnTyping: true,
            icons: false,
          }),
          keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
          isMultiline ? EditorView.lineWrapping : oneLine(),
          placeholderText(placeholder),
          EditorState.readOnly.of(isReadOnly),
          EditorView.editable.of(!isReadOnly),
          labelled.of(attributes()),
          EditorView.theme({
            '.cm-content': { padding: '4px 0', minHeight: isMultiline ? '64px' : '20px' },
            '.cm-scroller': { overflow: isMultiline ? 'auto' : 'hidden', maxHeight: '320px' },
          }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, [isMultiline, isReadOnly, labelled, placeholder]);

  useEffect(() => {
    view.current?.dispatch({ effects: labelled.reconfigure(attributesOf(label, isMultiline)) });
  }, [label, isMultiline, labelled]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  return <div ref={frame} className="code-frame" />;
}

function attributesOf(label: string, isMultiline: boolean): Extension {
  return EditorView.contentAttributes.of({
    'aria-label': label,
    ...(isMultiline ? { 'aria-multiline': 'true' } : {}),
  });
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
