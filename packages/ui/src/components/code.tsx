import { Skeleton } from '@mantine/core';
import type { CodeEditorProps } from './code-editor.tsx';
import { lazyPart } from './lazy-part.tsx';

const AnyCode = lazyPart(
  async () => (await import('./code-editor.tsx')).default,
  ({ minHeight = 120 }: CodeEditorProps) => <Skeleton height={minHeight} />,
);
const PythonCode = lazyPart(
  async () => (await import('./code-editor-python.tsx')).default,
  ({ minHeight = 120 }: CodeEditorProps) => <Skeleton height={minHeight} />,
);

/** The code editor, loaded on first use. */
export function Code(props: CodeEditorProps) {
  return props.language === 'python' ? <PythonCode {...props} /> : <AnyCode {...props} />;
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
