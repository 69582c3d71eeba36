import { Skeleton } from '@mantine/core';
import type { CodeEditorProps } from './code-editor.tsx';
import { lazyPart } from './lazy-part.tsx';
import { WhenInSight } from './when-in-sight.tsx';

const load = async () => (await import('./code-editor.tsx')).default;
const loadPython = async () => (await import('./code-editor-python.tsx')).default;

const Lines = ({ minHeight = 120 }: CodeEditorProps) => <Skeleton height={minHeight} />;
const AnyCode = lazyPart(load, Lines);
const PythonCode = lazyPart(loadPython, Lines);

/** The code editor, which is as large as a page. */
export function Code(props: CodeEditorProps) {
  const { language, minHeight = 120 } = props;
  const isPython = language === 'python';
  return (
    <WhenInSight height={minHeight} load={isPython ? loadPython : load}>
      {isPython ? <PythonCode {...props} /> : <AnyCode {...props} />}
    </WhenInSight>
  );
}

/** Read-only formatted JSON. */
export function JsonText({
  value,
  label,
  minHeight = 60,
  maxHeight = 220,
}: Pick<CodeEditorProps, 'label' | 'minHeight' | 'maxHeight'> & { value: unknown }) {
  return (
    <Code
      value={JSON.stringify(value, null, 2)}
      language="json"
      label={label}
      isReadOnly
      minHeight={minHeight}
      maxHeight={maxHeight}
    />
  );
}
