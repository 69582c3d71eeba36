import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { CodeEditorProps } from './code-editor.tsx';

const CodeEditor = lazy(() => import('./code-editor.tsx'));

/** The code editor, loaded when it is shown first. */
export function Code(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Skeleton height={props.minHeight ?? 120} />}>
      <CodeEditor {...props} />
    </Suspense>
  );
}
