import { Skeleton } from '@mantine/core';
import { findFiles, type JsonValue } from '@millrace/engine';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { useMemo } from 'react';

const FileList = lazyPart(
  async () => (await import('./file-list.tsx')).FileList,
  () => <Skeleton h={56} />,
);

/** The files in a value of an execution; nothing if there are none. */
export function Files({ value, executionId }: { value: JsonValue; executionId: number }) {
  const ids = useMemo(() => findFiles(value).map(({ id }) => id), [value]);
  return ids.length === 0 ? null : <FileList key={ids[0]} ids={ids} executionId={executionId} />;
}
