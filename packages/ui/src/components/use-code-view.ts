import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { codeTheme } from './code-theme.ts';

export interface CodeViewOptions {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Of the element that is written in. */
  readonly attributes: { readonly [name: string]: string };
  /** What this kind of editor has besides; the same one as long as nothing of it changes. */
  readonly setup: Extension;
  /** Where somebody writes already, in what it takes the place of; null when nobody does. It is taken once. */
  readonly startAt?: RefObject<number | null> | undefined;
}

/** Ctrl+Enter runs the workflow, wherever one is. */
const KEYS = defaultKeymap.filter(({ key }) => key !== 'Mod-Enter');

/** An editor in the element that the answer is given to: its look, its history, its value from outside and to it. */
export function useCodeView(options: CodeViewOptions): RefObject<HTMLDivElement | null> {
  const { value, setup } = options;
  const frame = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const change = useEffectEvent((text: string) => options.onChange(text));
  const first = useEffectEvent(() => options.value);
  const takeFocus = useEffectEvent((editor: EditorView) => {
    const { startAt } = options;
    if (startAt === undefined || startAt.current === null) return;
    editor.dispatch({ selection: { anchor: Math.min(startAt.current, editor.state.doc.length) } });
    editor.focus();
    startAt.current = null;
  });
  // New attributes must not make a new editor: somebody may have just clicked into this one.
  const [named] = useState(() => new Compartment());
  const attributes = JSON.stringify(options.attributes);
  const firstAttributes = useEffectEvent(() => attributesOf(attributes));

  useEffect(() => {
    if (frame.current === null) return;
    const editor = new EditorView({
      parent: frame.current,
      state: EditorState.create({
        doc: first(),
        extensions: [
          codeTheme(),
          history(),
          setup,
          keymap.of([...historyKeymap, ...KEYS]),
          typingOverLines(),
          named.of(firstAttributes()),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    takeFocus(editor);
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, [setup, named]);

  useEffect(() => {
    view.current?.dispatch({ effects: named.reconfigure(attributesOf(attributes)) });
  }, [attributes, named]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    // As it is: what keeps to one line only what is typed has no say in it.
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value }, filter: false });
  }, [value]);

  return frame;
}

/**
 * What is typed over several lines is put in by the editor itself: the browser would carry the styles of what was there
 * over as inline ones, which the page's policy refuses.
 */
function typingOverLines(): Extension {
  return EditorView.domEventHandlers({
    beforeinput(event, view) {
      const { doc, selection, readOnly } = view.state;
      const { from, to } = selection.main;
      const { data: text, inputType } = event;
      const isOneLine = doc.lineAt(from).number === doc.lineAt(to).number;
      if (inputType !== 'insertText' || text === null || isOneLine || readOnly || view.composing)
        return false;
      const insert = () =>
        view.state.update(view.state.replaceSelection(text), {
          userEvent: 'input.type',
          scrollIntoView: true,
        });
      const handlers = view.state.facet(EditorView.inputHandler);
      if (!handlers.some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
      return true;
    },
  });
}

function attributesOf(json: string): Extension {
  // Escape is the editor's own: a drawer around it stays open. What is only read is reached by keyboard, too, to scroll it.
  const own = { 'data-mantine-stop-propagation': 'true', tabindex: '0' };
  return EditorView.contentAttributes.of({ ...own, ...(JSON.parse(json) as { [name: string]: string }) });
}
