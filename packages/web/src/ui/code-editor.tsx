import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { linter, lintGutter } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightActiveLine, type KeyBinding, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { codeTheme } from './code-theme.ts';

export interface CodeEditorProps {
  readonly value: string;
  readonly onChange?: (value: string) => void;
  readonly label: string;
  readonly language: 'javascript' | 'json' | 'sql' | 'text';
  readonly isReadOnly?: boolean;
  /** Pixels; it grows with its content between them. */
  readonly minHeight?: number;
  readonly maxHeight?: number;
}

/** An editor for code and JSON; mistakes in JSON are marked where they are. Tab leaves JSON; code, after Escape. */
export default function CodeEditor(props: CodeEditorProps) {
  const { value, label, language, isReadOnly = false, minHeight = 120, maxHeight = 420 } = props;
  const frame = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const change = useEffectEvent((text: string) => props.onChange?.(text));
  const first = useEffectEvent(() => props.value);
  // A new label must not make a new editor: somebody may have just clicked into this one.
  const [labelled] = useState(() => new Compartment());
  const attributes = useEffectEvent(() => EditorView.contentAttributes.of({ 'aria-label': label }));

  useEffect(() => {
    if (frame.current === null) return;
    const editor = new EditorView({
      parent: frame.current,
      state: EditorState.create({
        doc: first(),
        extensions: [
          codeTheme(),
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          autocompletion({ icons: false }),
          highlightActiveLine(),
          keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap, ...tabKeysOf(language)]),
          languageOf(language),
          EditorState.tabSize.of(2),
          EditorState.readOnly.of(isReadOnly),
          labelled.of(attributes()),
          EditorView.lineWrapping,
          EditorView.theme({
            '.cm-scroller': { minHeight: `${minHeight}px`, maxHeight: `${maxHeight}px`, overflow: 'auto' },
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
  }, [language, isReadOnly, labelled, minHeight, maxHeight]);

  useEffect(() => {
    const named = EditorView.contentAttributes.of({ 'aria-label': label });
    view.current?.dispatch({ effects: labelled.reconfigure(named) });
  }, [label, labelled]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  return <div ref={frame} className="code-frame" />;
}

/** A form is walked through with Tab, and JSON is a field of a form; only code is indented by it. */
function tabKeysOf(language: CodeEditorProps['language']): readonly KeyBinding[] {
  return language === 'json' || language === 'text' ? [] : [indentWithTab];
}

function languageOf(language: CodeEditorProps['language']): Extension {
  switch (language) {
    case 'javascript':
      return javascript();
    case 'json':
      return [json(), linter(mistakesOf), lintGutter()];
    default:
      return [];
  }
}

const parseLint = jsonParseLinter();

/** Nothing at all is no mistake: the field is empty. */
function mistakesOf(view: EditorView) {
  return view.state.doc.toString().trim() === '' ? [] : parseLint(view);
}
