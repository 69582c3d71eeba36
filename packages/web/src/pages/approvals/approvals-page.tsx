import {
  Anchor,
  Badge,
  Button,
  Group,
  Modal,
  Paper,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  Title,
} from '@mantine/core';
import type { Approval } from '@millrace/admin-api';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { BadgeCheck, FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useOrg, useRole } from '../../api/me.ts';
import { usePages } from '../../api/pages.ts';
import { MoreButton } from '../../ui/more-button.tsx';
import { notifyDone, notifyFailure } from '../../ui/notify.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorState, LoadingRows } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';

const LIST = 'GET /orgs/:org/approvals';
const REFRESH_MS = 10_000;
type State = 'pending' | 'decided';

/** Executions that ask, and what was answered. */
export function ApprovalsPage() {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const { state: given } = useSearch({ strict: false }) as { readonly state?: unknown };
  const state: State = given === 'decided' ? 'decided' : 'pending';
  const list = usePages(LIST, { params: { org }, query: { state } }, { refetchInterval: REFRESH_MS });
  const { items } = list;
  return (
    <Page
      title={t('executions.approvals.title')}
      description={t('executions.approvals.description')}
      width={860}
      actions={
        <SegmentedControl
          size="xs"
          value={state}
          onChange={(value) =>
            void navigate({ to: '.', search: value === 'decided' ? { state: 'decided' } : {}, replace: true })
          }
          data={[
            { value: 'pending', label: t('executions.approvals.pending') },
            { value: 'decided', label: t('executions.approvals.decided') },
          ]}
        />
      }
    >
      {list.isPending && <LoadingRows rows={4} />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && items.length === 0 && <Nothing state={state} />}
      <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
        {items.map((item) => (
          <Question key={item.id} item={item} />
        ))}
      </Stack>
      <MoreButton list={list} />
    </Page>
  );
}

function Nothing({ state }: { readonly state: State }) {
  const { t } = useTranslation();
  if (state === 'decided')
    return <EmptyState icon={BadgeCheck} title={t('executions.approvals.noneDecided')} />;
  return (
    <EmptyState icon={BadgeCheck} title={t('executions.approvals.emptyTitle')}>
      {t('executions.approvals.emptyText')}
    </EmptyState>
  );
}

function Question({ item }: { readonly item: Approval }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { can } = useRole();
  const [choice, setChoice] = useState<Approval['choices'][number] | null>(null);
  return (
    <Paper component="li" withBorder p="sm">
      <Stack gap="xs">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <Title order={2} style={{ overflowWrap: 'anywhere' }}>
            {item.title}
          </Title>
          {item.is_test_mode && (
            <Badge
              color="grape"
              leftSection={<FlaskConical size={10} aria-hidden />}
              style={{ flexShrink: 0 }}
            >
              {t('executions.testMode')}
            </Badge>
          )}
        </Group>
        {item.message !== '' && (
          <Text
            size="sm"
            mah={240}
            style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', overflowY: 'auto' }}
          >
            {item.message}
          </Text>
        )}
        <Text size="xs" c="dimmed" component="div">
          {t('executions.approvals.execution')}{' '}
          <Anchor
            component={Link}
            to={`/o/${org}/executions/${item.execution_id}`}
            search={{ node: item.node_id } as never}
            size="xs"
            underline="always"
          >
            {item.display_name}
          </Anchor>
          {' · '}
          {t('executions.approvals.asked')} <Moment at={item.created_at} />
          {item.decision === null && (
            <>
              {' · '}
              {t('executions.approvals.openUntil')} <Moment at={item.expires_at} relative={false} />
            </>
          )}
        </Text>
        {item.decision !== null && <Decision item={item} decision={item.decision} />}
        {item.decision === null && !can('editor') && (
          <Text size="xs" c="dimmed">
            {t('executions.approvals.noRole')}
          </Text>
        )}
        {item.decision === null && can('editor') && (
          <Group gap="xs">
            {item.choices.map((each) => (
              <Button key={each.id} variant="default" onClick={() => setChoice(each)}>
                {each.label}
              </Button>
            ))}
          </Group>
        )}
      </Stack>
      {choice !== null && <DecisionDialog item={item} choice={choice} onClose={() => setChoice(null)} />}
    </Paper>
  );
}

function Decision({
  item,
  decision,
}: {
  readonly item: Approval;
  readonly decision: NonNullable<Approval['decision']>;
}) {
  const label = item.choices.find(({ id }) => id === decision.choice)?.label ?? decision.choice;
  return (
    <Stack gap={4}>
      <Group gap={6}>
        <Badge color="teal" leftSection={<BadgeCheck size={12} aria-hidden />}>
          {label}
        </Badge>
        <Text size="sm" component="span">
          <ByWhom decision={decision} /> · <Moment at={decision.decided_at} />
        </Text>
      </Group>
      {decision.comment !== '' && (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {decision.comment}
        </Text>
      )}
    </Stack>
  );
}

function ByWhom({
  decision: { via, decided_by: name },
}: {
  readonly decision: NonNullable<Approval['decision']>;
}) {
  const { t } = useTranslation();
  if (via === 'member') return `${t('executions.approvals.by')} ${name ?? ''}`;
  return name === null ? t('executions.approvals.byLink') : t('executions.approvals.byLinkName', { name });
}

function DecisionDialog({
  item,
  choice,
  onClose,
}: {
  readonly item: Approval;
  readonly choice: Approval['choices'][number];
  readonly onClose: () => void;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const client = useQueryClient();
  const [comment, setComment] = useState('');
  const decide = useMutation({
    mutationFn: () =>
      call('POST /orgs/:org/approvals/:approval/decision', {
        params: { org, approval: item.id },
        body: { choice: choice.id, comment },
      }),
    onSuccess: () => notifyDone(t('executions.approvals.done', { choice: choice.label })),
    onError: notifyFailure,
    onSettled: () => {
      onClose();
      return client.invalidateQueries({ queryKey: [LIST] });
    },
  });
  return (
    <Modal opened onClose={onClose} title={t('executions.approvals.decide', { choice: choice.label })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          decide.mutate();
        }}
      >
        <Stack gap="sm">
          <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
            {item.title}
          </Text>
          <Textarea
            data-autofocus
            label={t('executions.approvals.comment')}
            description={t('executions.approvals.commentHint')}
            autosize
            minRows={3}
            maxRows={10}
            maxLength={5_000}
            value={comment}
            onChange={({ currentTarget }) => setComment(currentTarget.value)}
          />
          <Text size="xs" c="dimmed">
            {t('executions.approvals.first')}
          </Text>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={decide.isPending}>
              {choice.label}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
