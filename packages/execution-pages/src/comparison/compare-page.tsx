import '@millrace/ui/i18n/parts/comparison.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import { Alert, Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import type { ExecutionItem, ResponseBody } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Form } from '@millrace/ui/components/form.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { EmptyState, ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { formatDuration, Moment } from '@millrace/ui/components/time.tsx';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowLeftRight, Columns2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { readCompareSearch } from '../common/search.ts';
import { ExecutionMarks, ExecutionStatus } from '../common/status.tsx';
import { ToExecutions } from '../common/to-executions.tsx';
import { ExecutionLink } from '../detail/execution-facts.tsx';
import { CompareNodes } from './compare-nodes.tsx';

const COMPARE = 'GET /orgs/:org/executions/compare';

/** Two executions node by node. */
export function ComparePage() {
  const { t } = useTranslation();
  const { a, b } = readCompareSearch(useSearch({ strict: false }));
  return (
    <Page title={t('comparison.title')} width={1400}>
      {a === undefined && (
        <EmptyState icon={Columns2} title={t('comparison.missing')} action={<ToExecutions />}>
          {t('comparison.missingText')}
        </EmptyState>
      )}
      {a !== undefined && b === undefined && <PickOther a={a} />}
      {a !== undefined && b !== undefined && <Comparison a={a} b={b} />}
    </Page>
  );
}

function Comparison({ a, b }: { a: number; b: number }) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const compared = useQuery(endpointQuery(COMPARE, { params: { org }, query: { a, b } }));
  if (compared.isPending) return <LoadingRows />;
  if (compared.isError) return <ErrorState error={compared.error} onRetry={() => void compared.refetch()} />;
  return (
    <Stack gap="md">
      <Group align="stretch" gap="sm">
        <Side name={t('comparison.side.a')} item={compared.data.a} />
        <IconButton
          icon={ArrowLeftRight}
          label={t('comparison.swap')}
          my="auto"
          onClick={() => void navigate({ to: '.', search: { a: b, b: a }, replace: true })}
        />
        <Side name={t('comparison.side.b')} item={compared.data.b} />
      </Group>
      <Notes {...compared.data} />
      <CompareNodes {...compared.data} />
    </Stack>
  );
}

function Side({ name, item }: { name: string; item: ExecutionItem }) {
  return (
    <Stack
      gap={4}
      flex="1 1 260px"
      miw={0}
      pl="sm"
      style={{ borderInlineStart: '3px solid var(--mantine-color-default-border)' }}
    >
      <Group gap="xs">
        <Text fw={600}>{name}</Text>
        <ExecutionLink id={item.id}>{item.display_name}</ExecutionLink>
      </Group>
      <Group gap="xs">
        <ExecutionStatus status={item.status} />
        <ExecutionMarks item={item} />
        <Hint component="span">
          <Moment at={item.created_at} /> · {isSaved(item) && `v${item.workflow_version} · `}
          {item.duration_ms === null ? '–' : formatDuration(item.duration_ms)}
        </Hint>
      </Group>
    </Stack>
  );
}

function Notes({ a, b }: ResponseBody<typeof COMPARE>) {
  const { t } = useTranslation();
  if (a.workflow_id !== b.workflow_id) return <Alert color="yellow">{t('comparison.otherWorkflow')}</Alert>;
  if (a.workflow_version === b.workflow_version) return null;
  if (!isSaved(a) || !isSaved(b)) return <Alert color="gray">{t('comparison.otherDraft')}</Alert>;
  return (
    <Alert color="gray">
      {t('comparison.otherVersion', { a: a.workflow_version, b: b.workflow_version })}
    </Alert>
  );
}

/** Test runs use a draft, which has a negative version number that users don't know. */
function isSaved({ workflow_version: version }: ExecutionItem): boolean {
  return version > 0;
}

/** Chooses the other execution among related ones, or by id. */
function PickOther({ a }: { a: number }) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const [id, setId] = useState<number | string>('');
  const { data } = useQuery(
    endpointQuery('GET /orgs/:org/executions/:execution', { params: { org, execution: a } }),
  );
  const workflow = data?.execution.workflow_id;
  const recent = useQuery({
    ...endpointQuery('GET /orgs/:org/executions', {
      params: { org },
      query: { workflow: workflow ?? 1, limit: 10 },
    }),
    enabled: workflow !== undefined,
  });
  const choose = (b: number) => void navigate({ to: '.', search: { a, b }, replace: true });
  const submit = () => {
    if (Number(id) >= 1) choose(Number(id));
  };
  const others = (recent.data?.items ?? []).filter((item) => item.id !== a);
  return (
    <Stack gap="sm">
      <Form onSubmit={submit}>
        <Group align="flex-end" gap="xs">
          <NumberInput
            label={t('comparison.pick', { id: a })}
            aria-label={t('comparison.pickLabel')}
            hideControls
            min={1}
            allowDecimal={false}
            value={id}
            onChange={setId}
            prefix="#"
          />
          <Button type="submit" disabled={Number(id) < 1}>
            {t('comparison.go')}
          </Button>
        </Group>
      </Form>
      {others.length > 0 && (
        <Stack gap={6}>
          <Text size="sm" fw={600}>
            {t('comparison.suggestions')}
          </Text>
          {others.map((item) => (
            <Group key={item.id} gap="xs">
              <Button variant="default" onClick={() => choose(item.id)}>
                #{item.id}
              </Button>
              <ExecutionStatus status={item.status} />
              <Muted component="span">
                <Moment at={item.created_at} />
              </Muted>
              {item.rerun_of === a && <Hint>{t('executions.rerunOf', { id: a })}</Hint>}
            </Group>
          ))}
        </Stack>
      )}
    </Stack>
  );
}
