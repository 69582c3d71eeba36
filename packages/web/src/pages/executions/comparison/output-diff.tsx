import { json } from '@codemirror/lang-json';
import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { Text } from '@mantine/core';
import type { JsonValue } from '@millrace/engine';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { codeTheme } from '@millrace/ui/components/code-theme.ts';
import { ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { type UseQueryOptions, useQueries } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import classes from '../common/executions.module.css';

const EXECUTION = 'GET /orgs/:org/executions/:execution';
const NODE = 'GET /orgs/:org/executions/:execution/nodes/:node';
/** Characters of both together; comparing more would hold the page up. */
const MAX_SIZE = 1_000_000;

/** What two executions were given, side by side. */
export function InputDiff({ a, b }: { a: number; b: number }) {
  const { t } = useTranslation();
  const org = useOrg();
  return (
    <Sides
      queries={[a, b].map((execution) => endpointQuery(EXECUTION, { params: { org, execution } }))}
      pick={(detail) => detail.input_data}
      label={t('executions.compare.inputLabel')}
    />
  );
}

/** What a node put out in two executions, side by side. */
export function OutputDiff({
  nodeId,
  name,
  a,
  b,
  size,
}: {
  nodeId: string;
  name: string;
  a: number;
  b: number;
  size: number;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  if (size > MAX_SIZE) return <Text size="sm">{t('executions.compare.tooLarge')}</Text>;
  return (
    <Sides
      queries={[a, b].map((execution) =>
        endpointQuery(NODE, { params: { org, execution, node: nodeId }, query: {} }),
      )}
      pick={({ output }) => output}
      label={t('executions.compare.diffLabel', { node: name })}
    />
  );
}

/** Reads both and shows how they differ. */
function Sides<Read>({
  queries,
  pick,
  label,
}: {
  queries: readonly UseQueryOptions<Read>[];
  pick: (read: Read) => JsonValue;
  label: string;
}) {
  const { t } = useTranslation();
  const [ofA, ofB] = useQueries({ queries });
  const failed = [ofA, ofB].find((query) => query?.isError === true);
  if (failed?.error != null) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (ofA?.data === undefined || ofB?.data === undefined) return <LoadingRows rows={3} />;
  const [a = '', b = ''] = [ofA.data, ofB.data].map((read) => JSON.stringify(pick(read), null, 2));
  if (a.length + b.length > MAX_SIZE) return <Text size="sm">{t('executions.compare.tooLarge')}</Text>;
  return <Diff a={a} b={b} label={label} />;
}

function Diff({ a, b, label }: { a: string; b: string; label: string }) {
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
