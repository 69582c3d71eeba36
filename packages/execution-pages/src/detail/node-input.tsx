import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import { Skeleton, Stack, Text } from '@mantine/core';
import type { ExecutionDetail, NodeRunDetail } from '@millrace/admin-api';
import { useNodeTypes } from '@millrace/editor/canvas/flow-view.tsx';
import type { Flow, JsonValue } from '@millrace/engine';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { JsonViewer } from '@millrace/ui/components/json-viewer.tsx';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { loadingWhatItNeeds } from '@millrace/values/not-loaded';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Files } from '../files/files.tsx';
import { type GivenInput, type KnownRun, readInput, TooLargeError } from './iteration-input.ts';
import { nodeRunQuery } from './use-execution.ts';

/** The input of a node's run: its rendered settings and, in a loop, the item. */
export function NodeInput({
  detail,
  flow,
  run,
  labels,
}: {
  detail: ExecutionDetail;
  flow: Flow;
  run: NodeRunDetail;
  labels: ReadonlyMap<string, string>;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const known = useKnownRun(detail, flow);
  const { execution } = detail;
  const { node_id: nodeId, iteration, status, attempts } = run;
  const given = useQuery({
    // A node's input doesn't change while it runs; a response is rendered when the execution ends.
    queryKey: [
      'input of a run',
      { org, execution: execution.id, nodeId, iteration, status, attempts },
      execution.status,
    ],
    queryFn: () => loadingWhatItNeeds(() => readInput(known, nodeId, iteration ?? [])),
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    retry: false,
    enabled: known.areTypesKnown,
  });
  if (given.error instanceof TooLargeError)
    return <Text size="sm">{t('executions.node.inputTooLarge')}</Text>;
  if (given.isError) return <ErrorState error={given.error} onRetry={() => void given.refetch()} />;
  if (given.data === undefined) return <Skeleton h={120} />;
  const { config } = given.data;
  const fileName = `execution-${execution.id}-${[nodeId, ...(iteration ?? [])].join('-')}`;
  return (
    <Stack gap={6}>
      <OfLoop given={given.data} fileName={`${fileName}-item.json`} />
      {config !== null && (
        <>
          <Hint>{t('executions.node.inputHint')}</Hint>
          <NotKept ids={given.data.notKept} labels={labels} />
          <JsonViewer value={config} label={t('executions.node.input')} fileName={`${fileName}-input.json`} />
          <Files value={config} executionId={execution.id} />
        </>
      )}
    </Stack>
  );
}

/** The loop's item and index. */
function OfLoop({ given, fileName }: { given: GivenInput; fileName: string }) {
  const { t } = useTranslation();
  const { seen, isPlaceUnknown } = given;
  if (isPlaceUnknown) {
    return <Hint>{t('executions.node.placeUnknown')}</Hint>;
  }
  if (seen === null) return null;
  return (
    <>
      <JsonViewer
        value={seen}
        label={t('executions.node.itemAndIndex')}
        fileName={fileName}
        maxHeight={200}
      />
      {!Object.hasOwn(seen, 'item') && <Hint>{t('executions.node.itemUnknown')}</Hint>}
    </>
  );
}

/** Outputs of the same iteration that the settings read but that aren't stored. */
function NotKept({ ids, labels }: { ids: readonly string[]; labels: ReadonlyMap<string, string> }) {
  const { t } = useTranslation();
  if (ids.length === 0) return null;
  const names = ids.map((id) => labels.get(id) ?? id).join(t('common.listSeparator'));
  return <Text size="xs">{t('executions.node.inputNotKept', { nodes: names })}</Text>;
}

function useKnownRun(detail: ExecutionDetail, flow: Flow): KnownRun & { readonly areTypesKnown: boolean } {
  const org = useOrg();
  const client = useQueryClient();
  const types = useNodeTypes();
  const { execution, input_data: triggerData, nodes } = detail;
  return {
    areTypesKnown: types.size > 0,
    executionId: execution.id,
    triggerData: triggerData as JsonValue,
    flow,
    summaries: nodes,
    keepsRuns: (type) => types.get(type)?.kind === 'effect',
    async read(node, place) {
      const query = place.length === 0 ? {} : { iteration: place.join() };
      try {
        return await client.fetchQuery(nodeRunQuery({ org, execution: execution.id, node }, query));
      } catch (error) {
        if (error instanceof ApiProblem && error.status === 404) return null;
        throw error;
      }
    },
  };
}
