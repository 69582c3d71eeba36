import { Skeleton } from '@mantine/core';
import { Suspense } from 'react';
import type { CodeEditorProps } from './code-editor.tsx';
import { lazyPart } from './lazy-part.tsx';

const CodeEditor = lazyPart(async () => (await import('./code-editor.tsx')).default);

/** The code editor, loaded on first use. */
export function Code(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Skeleton height={props.minHeight ?? 120} />}>
      <CodeEditor {...props} />
    </Suspense>
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
