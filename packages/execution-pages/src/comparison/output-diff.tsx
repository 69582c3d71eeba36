import '@millrace/ui/i18n/parts/versions.ts';
import '@millrace/ui/i18n/parts/comparison.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import { Text } from '@mantine/core';
import type { JsonValue } from '@millrace/engine';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import TextDiff from '@millrace/ui/components/text-diff.tsx';
import { type UseQueryOptions, useQueries } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';

const EXECUTION = 'GET /orgs/:org/executions/:execution';
const NODE = 'GET /orgs/:org/executions/:execution/nodes/:node';
/** Characters of both sides together; diffing more would block the page. */
const MAX_SIZE = 1_000_000;

/** The inputs of two executions, side by side. */
export function InputDiff({ a, b }: { a: number; b: number }) {
  const { t } = useTranslation();
  const org = useOrg();
  return (
    <Sides
      queries={[a, b].map((execution) => endpointQuery(EXECUTION, { params: { org, execution } }))}
      pick={(detail) => detail.input_data}
      label={t('comparison.inputLabel')}
    />
  );
}

/** A node's output in two executions, side by side. */
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
  if (size > MAX_SIZE) return <Text size="sm">{t('comparison.tooLarge')}</Text>;
  return (
    <Sides
      queries={[a, b].map((execution) =>
        endpointQuery(NODE, { params: { org, execution, node: nodeId }, query: {} }),
      )}
      pick={({ output }) => output}
      label={t('comparison.diffLabel', { node: name })}
    />
  );
}

/** Loads both sides and shows the diff. */
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
  if (a.length + b.length > MAX_SIZE) return <Text size="sm">{t('comparison.tooLarge')}</Text>;
  return <TextDiff before={a} after={b} labels={[label, label]} maxHeight={420} />;
}
