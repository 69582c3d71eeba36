import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import { codeTheme } from './code-theme.ts';

/** What is selected in a text; an empty range is a cursor. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

export interface CodeViewOptions {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Attributes of the editable element. */
  readonly attributes: { readonly [name: string]: string };
  /** Extensions for this kind of editor; must keep its identity unless it changes. */
  readonly setup: Extension;
  /** Selection in the field this editor replaces; null if that had no focus. Used once. */
  readonly startAt?: RefObject<TextRange | null> | undefined;
}

/** Ctrl+Enter runs the workflow from anywhere. */
const KEYS = defaultKeymap.filter(({ key }) => key !== 'Mod-Enter');

/** An editor in the element of the returned ref: theme, history, and its value bound both ways. */
export function useCodeView(options: CodeViewOptions): RefObject<HTMLDivElement | null> {
  const { value, setup } = options;
  const frame = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const change = useEffectEvent((text: string) => options.onChange(text));
  const first = useEffectEvent(() => options.value);
  const takeFocus = useEffectEvent((editor: EditorView) => {
    const { startAt } = options;
    if (startAt === undefined || startAt.current === null) return;
    const [anchor, head] = [startAt.current.from, startAt.current.to].map((at) =>
      Math.min(at, editor.state.doc.length),
    ) as [number, number];
    editor.dispatch({ selection: { anchor, head } });
    editor.focus();
    startAt.current = null;
  });
  // New attributes must not recreate the editor: it may have just received the focus.
  const [named] = useState(() => new Compartment());
  const attributes = JSON.stringify(options.attributes);
  const firstAttributes = useEffectEvent(() => attributesOf(attributes));

  // Before anything else happens: a key pressed after the field it replaces is gone, and before it has the focus, would be one of the page.
  useLayoutEffect(() => {
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
    // Unfiltered: the single-line filter applies only to typed text.
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value }, filter: false });
  }, [value]);

  return frame;
}

/**
 * Text typed over a multi-line selection is inserted by the editor itself: the browser would keep the replaced text's
 * styles as inline ones, which the content security policy rejects.
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
  // Escape stays in the editor, so a drawer around it stays open. Read-only editors are focusable too, for scrolling by
  // keyboard.
  const own = { 'data-mantine-stop-propagation': 'true', tabindex: '0' };
  return EditorView.contentAttributes.of({ ...own, ...(JSON.parse(json) as { [name: string]: string }) });
}
