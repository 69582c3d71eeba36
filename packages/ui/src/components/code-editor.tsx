import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { linter, lintGutter } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightActiveLine, type KeyBinding, keymap, lineNumbers } from '@codemirror/view';
import { useId, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { sqlLanguage } from './code-sql.ts';
import { Hint } from './text.tsx';
import { useCodeView } from './use-code-view.ts';

export interface CodeEditorProps {
  value: string;
  onChange?: (value: string) => void;
  label: string;
  language: 'javascript' | 'python' | 'json' | 'sql' | 'text';
  isReadOnly?: boolean;
  /** Pixels; the editor grows with its content between the two. */
  minHeight?: number;
  maxHeight?: number;
  /** Of a language that is loaded apart; must not change. */
  extension?: Extension;
}

const NOTHING: Extension = [];
const NOBODY = () => undefined;

/** An editor for code and JSON that marks JSON errors. Tab leaves JSON at once, and code after Escape. */
export default function CodeEditor(props: CodeEditorProps) {
  const {
    value,
    label,
    language,
    isReadOnly = false,
    minHeight = 120,
    maxHeight = 420,
    extension = NOTHING,
  } = props;
  const { t } = useTranslation();
  const hintId = useId();
  const takesTab = isIndented(language) && !isReadOnly;
  const setup = useMemo(
    () => [setupOf(language, isReadOnly, { minHeight, maxHeight }), extension],
    [language, isReadOnly, minHeight, maxHeight, extension],
  );
  const frame = useCodeView({
    value,
    onChange: props.onChange ?? NOBODY,
    attributes: { 'aria-label': label, ...(takesTab ? { 'aria-describedby': hintId } : {}) },
    setup,
  });
  return (
    <div>
      <div ref={frame} className="code-frame" />
      {takesTab && (
        <Hint id={hintId} mt={2}>
          {t('common.tabHint')}
        </Hint>
      )}
    </div>
  );
}

function setupOf(
  language: CodeEditorProps['language'],
  isReadOnly: boolean,
  { minHeight, maxHeight }: { readonly minHeight: number; readonly maxHeight: number },
): Extension {
  return [
    lineNumbers(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: false }),
    highlightActiveLine(),
    keymap.of([...completionKeymap, ...tabKeysOf(language)]),
    languageOf(language),
    EditorState.tabSize.of(language === 'python' ? 4 : 2),
    EditorState.readOnly.of(isReadOnly),
    EditorView.lineWrapping,
    EditorView.theme({
      '.cm-scroller': { minHeight: `${minHeight}px`, maxHeight: `${maxHeight}px`, overflow: 'auto' },
    }),
  ];
}

/** Forms are navigated with Tab and JSON is a form field, so Tab indents only code. */
function isIndented(language: CodeEditorProps['language']): boolean {
  return language === 'javascript' || language === 'python' || language === 'sql';
}

function tabKeysOf(language: CodeEditorProps['language']): readonly KeyBinding[] {
  return isIndented(language) ? [indentWithTab] : [];
}

function languageOf(language: CodeEditorProps['language']): Extension {
  switch (language) {
    case 'javascript':
      return javascript();
    case 'json':
      return [json(), linter(mistakesOf), lintGutter()];
    case 'sql':
      return sqlLanguage;
    default:
      return [];
  }
}

const parseLint = jsonParseLinter();

/** An empty field isn't an error. */
function mistakesOf(view: EditorView) {
  return view.state.doc.toString().trim() === '' ? [] : parseLint(view);
}
