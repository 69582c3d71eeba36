import { json } from '@codemirror/lang-json';
import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { Text } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useOrg } from '../../api/me.ts';
import { codeTheme } from '../../ui/code-theme.ts';
import { ErrorState, LoadingRows } from '../../ui/states.tsx';
import { readExactly } from './exact.ts';
import classes from './executions.module.css';

const NODE = 'GET /orgs/:org/executions/:execution/nodes/:node';
/** Characters of both together; comparing more would hold the page up. */
const MAX_SIZE = 1_000_000;

/** What a node put out in two executions, side by side. */
export function OutputDiff({
  nodeId,
  a,
  b,
  size,
}: {
  readonly nodeId: string;
  readonly a: number;
  readonly b: number;
  readonly size: number;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const isTooLarge = size > MAX_SIZE;
  const [ofA, ofB] = useQueries({
    queries: [a, b].map((execution) => ({
      queryKey: [NODE, { org, execution, node: nodeId }, {}],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        readExactly(NODE, { params: { org, execution, node: nodeId }, query: {}, signal }),
      structuralSharing: false,
      enabled: !isTooLarge,
    })),
  });
  if (isTooLarge) return <Text size="sm">{t('executions.compare.tooLarge')}</Text>;
  const failed = [ofA, ofB].find((query) => query?.isError === true);
  if (failed?.error != null) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (ofA?.data === undefined || ofB?.data === undefined) return <LoadingRows rows={3} />;
  return (
    <Diff
      a={JSON.stringify(ofA.data.output, null, 2)}
      b={JSON.stringify(ofB.data.output, null, 2)}
      label={t('executions.compare.diffLabel', { node: nodeId })}
    />
  );
}

function Diff({ a, b, label }: { readonly a: string; readonly b: string; readonly label: string }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (frame.current === null) return;
    const extensions = [
      codeTheme(),
      lineNumbers(),
      json(),
      EditorView.lineWrapping,
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ 'aria-label': label }),
    ];
    const view = new MergeView({
      a: { doc: a, extensions },
      b: { doc: b, extensions },
      parent: frame.current,
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    return () => view.destroy();
  }, [a, b, label]);
  return <div ref={frame} className={classes.diff} />;
}
