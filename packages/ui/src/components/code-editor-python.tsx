import { python } from '@codemirror/lang-python';
import { indentUnit } from '@codemirror/language';
import CodeEditor, { type CodeEditorProps } from './code-editor.tsx';

const PYTHON = [python(), indentUnit.of('    ')];

/** The editor with Python, which few forms need: a part of its own. */
export default function PythonEditor(props: CodeEditorProps) {
  return <CodeEditor {...props} extension={PYTHON} />;
}
