import '@millrace/ui/i18n/parts/forms.ts';
import { autocompletion, type CompletionSource, completionKeymap } from '@codemirror/autocomplete';
import { EditorState, type Extension } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  placeholder as placeholderText,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import type { PathHint, Preview } from '@millrace/editor-model/known-values.ts';
import { type TextRange, useCodeView } from '@millrace/ui/components/use-code-view.ts';
import { type RefObject, useContext, useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import {
  droppedPath,
  type InsertTarget,
  InsertTargetContext,
  type InsertTargets,
  TAKES_DATA,
} from '../form/insert-target.ts';
import { oneLine } from '../form/one-line.ts';
import { completionsAt, insertPath, listMarks } from './template-completion.ts';

export interface TemplateEditorProps {
  value: string;
  onChange: (value: string) => void;
  label: string;
  hints: () => readonly PathHint[];
  /** What a text with templates gives; absent where nothing is known. */
  preview?: (text: string) => Preview | null;
  isMultiline?: boolean;
  /** Starts with one line and may grow. */
  takesLines?: boolean;
  placeholder?: string;
  isReadOnly?: boolean;
  /** See `useCodeView`. */
  startAt?: RefObject<TextRange | null>;
}

const TEMPLATE = Decoration.mark({ class: 'cm-template' });
const MISTAKE = Decoration.mark({ class: 'cm-template-mistake' });

/** Longer texts are shown plainly: the whole text is read at each change. */
const MAX_HIGHLIGHTED = 50_000;

/** Expressions, and in each the character that can't be understood. */
function decorate({ state }: EditorView): DecorationSet {
  if (state.doc.length > MAX_HIGHLIGHTED) return Decoration.none;
  const marks = listMarks(state.doc.toString()).map(({ from, to, isMistake }) =>
    (isMistake ? MISTAKE : TEMPLATE).range(from, to),
  );
  return Decoration.set(marks, true);
}

const highlightTemplates = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = decorate(view);
    }
    update({ docChanged, view }: ViewUpdate) {
      if (docChanged) this.decorations = decorate(view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

/** A template editor with highlighting and completion. */
export default function TemplateEditor(props: TemplateEditorProps) {
  const { value, onChange, isMultiline = false, isReadOnly = false, label, placeholder = '' } = props;
  const { takesLines = isMultiline } = props;
  // Read while typing, so that new values don't recreate the editor.
  const known = useRef(props);
  useEffect(() => {
    known.current = props;
  });
  const { t } = useTranslation();
  const targets = useContext(InsertTargetContext);
  const setup = useMemo(
    () => [
      setupOf({ isMultiline, takesLines, isReadOnly, placeholder }, (context) =>
        completionsAt(context, {
          hints: known.current.hints(),
          preview: known.current.preview ?? (() => null),
          about: (operator) => t(`forms.operators.${operator}`),
        }),
      ),
      targets === null || isReadOnly ? [] : takesInsertions(targets),
    ],
    [isMultiline, takesLines, isReadOnly, placeholder, targets, t],
  );
  const frame = useCodeView({
    value,
    onChange,
    attributes: { 'aria-label': label, ...(takesLines ? { 'aria-multiline': 'true' } : {}) },
    setup,
    startAt: props.startAt,
  });
  return <div ref={frame} className="code-frame" />;
}

/** Lets data from beside the form be inserted at the cursor, or where it is dropped. */
function takesInsertions(targets: InsertTargets): Extension {
  return ViewPlugin.fromClass(
    class {
      readonly target: InsertTarget;
      constructor(view: EditorView) {
        this.target = {
          element: view.dom,
          insert(path) {
            view.dispatch({ ...insertPath(view.state, path), scrollIntoView: true });
            view.focus();
          },
        };
        view.dom.setAttribute(TAKES_DATA, '');
        targets.add(this.target);
      }
      destroy() {
        targets.remove(this.target);
      }
    },
    {
      eventHandlers: {
        focus() {
          targets.use(this.target);
        },
        drop(event, view) {
          const path = droppedPath(event.dataTransfer);
          if (path === null) return false;
          const at = view.posAtCoords({ x: event.clientX, y: event.clientY }, false);
          view.dispatch(insertPath(view.state, path, { from: at, to: at }));
          view.focus();
          event.preventDefault();
          return true;
        },
      },
    },
  );
}

function setupOf(
  {
    isMultiline,
    takesLines,
    isReadOnly,
    placeholder,
  }: Required<Pick<TemplateEditorProps, 'isMultiline' | 'takesLines' | 'isReadOnly' | 'placeholder'>>,
  complete: CompletionSource,
): Extension {
  return [
    highlightTemplates,
    autocompletion({ override: [complete], activateOnTyping: true, icons: false }),
    keymap.of([...completionKeymap]),
    isMultiline ? EditorView.lineWrapping : [],
    takesLines ? [] : oneLine(),
    EditorView.editorAttributes.of(({ state }) => (state.doc.lines > 1 ? { class: 'has-lines' } : null)),
    placeholderText(placeholder),
    EditorState.readOnly.of(isReadOnly),
    EditorView.editable.of(!isReadOnly),
    EditorView.theme({
      '.cm-content': { padding: '4px 0', minHeight: isMultiline ? '64px' : '20px' },
      '.cm-scroller': { overflow: isMultiline ? 'auto' : 'hidden', maxHeight: '320px' },
      '&.has-lines .cm-scroller': { overflow: 'auto' },
    }),
  ];
}
