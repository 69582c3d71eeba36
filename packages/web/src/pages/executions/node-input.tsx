import { Skeleton, Stack, Text } from '@mantine/core';
import type { ExecutionDetail } from '@millrace/admin-api';
import type { Flow, JsonObject, JsonValue } from '@millrace/engine';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useOrg } from '../../api/me.ts';
import { JsonViewer } from '../../ui/json-viewer.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { readExactly } from './exact.ts';
import { nodesReadBy, renderInput } from './rendered-input.ts';

const NODE = 'GET /orgs/:org/executions/:execution/nodes/:node';
/** Characters of all outputs together that are read to show what came of them. */
const MAX_READ = 4_000_000;

/** What a node at top level was given: its settings, with what their templates came to. */
export function NodeInput({
  detail,
  flow,
  nodeId,
  config,
}: {
  readonly detail: ExecutionDetail;
  readonly flow: Flow;
  readonly nodeId: string;
  readonly config: JsonObject;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const { execution, input_data: triggerData, nodes } = detail;
  const ids = useMemo(() => nodesReadBy(config), [config]);
  const read = nodes.filter(({ node_id: id, status }) => ids.includes(id) && status !== 'skipped');
  const isTooLarge = read.reduce((sum, { output_size: size }) => sum + size, 0) > MAX_READ;
  const answers = useQueries({
    queries: (isTooLarge ? [] : read).map(({ node_id: node }) => ({
      queryKey: [NODE, { org, execution: execution.id, node }, {}],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        readExactly(NODE, { params: { org, execution: execution.id, node }, query: {}, signal }),
      structuralSharing: false,
    })),
  });
  if (isTooLarge) return <Text size="sm">{t('executions.node.inputTooLarge')}</Text>;
  const failed = answers.find(({ isError }) => isError);
  if (failed?.error != null) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (answers.some(({ data }) => data === undefined)) return <Skeleton h={120} />;
  const outputs = Object.fromEntries(
    answers.flatMap(({ data }) => (data === undefined ? [] : [[data.node_id, data.output as JsonObject]])),
  );
  const value = renderInput(config, flow, {
    executionId: execution.id,
    triggerData: triggerData as JsonValue,
    outputs,
  });
  return (
    <Stack gap={6}>
      <Text size="xs" c="dimmed">
        {t('executions.node.inputHint')}
      </Text>
      <Shown
        value={value}
        label={t('executions.node.input')}
        fileName={`execution-${execution.id}-${nodeId}-input.json`}
      />
    </Stack>
  );
}

/** The same value is the same object for the viewer, which would close what was opened otherwise. */
function Shown({
  value,
  label,
  fileName,
}: {
  readonly value: JsonObject;
  readonly label: string;
  readonly fileName: string;
}) {
  const text = JSON.stringify(value);
  const same = useMemo(() => value, [text]);
  return <JsonViewer value={same} label={label} fileName={fileName} />;
}
