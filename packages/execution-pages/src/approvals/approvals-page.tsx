import '@millrace/ui/i18n/parts/approvals.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import { Anchor, Button, Group, Paper, SegmentedControl, Stack, Title } from '@mantine/core';
import type { Approval } from '@millrace/admin-api';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { useFilters } from '@millrace/ui/api/search-params.ts';
import { IconBadge } from '@millrace/ui/components/icon-badge.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { Link } from '@tanstack/react-router';
import { BadgeCheck, FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { readApprovalsSearch } from './approvals-search.ts';
import { useChoiceNames } from './choice-name.ts';
import { Decision, QuestionText } from './decision.tsx';
import { DecisionDialog } from './decision-dialog.tsx';

const LIST = 'GET /orgs/:org/approvals';
const REFRESH_MS = 10_000;
type State = 'pending' | 'decided';
type Choice = Approval['choices'][number];

/** Pending and decided approvals. */
export function ApprovalsPage() {
  const { t } = useTranslation();
  const org = useOrg();
  const [{ state = 'pending' }, apply] = useFilters(readApprovalsSearch);
  const list = usePages(LIST, { params: { org }, query: { state } }, { refetchInterval: REFRESH_MS });
  // Kept here, not in the item, which disappears when someone else decides first.
  const [deciding, setDeciding] = useState<{ readonly item: Approval; readonly choice: Choice } | null>(null);
  return (
    <Page
      title={t('approvals.title')}
      description={t('approvals.description')}
      width={860}
      actions={
        <SegmentedControl
          size="xs"
          value={state}
          onChange={(value) => apply({ state: value === 'decided' ? value : undefined })}
          data={[
            { value: 'pending', label: t('approvals.pending') },
            { value: 'decided', label: t('approvals.decided') },
          ]}
        />
      }
    >
      <PagedList list={list} rows={4} empty={<Nothing state={state} />}>
        {(items) => (
          <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
            {items.map((item) => (
              <Question key={item.id} item={item} onDecide={(choice) => setDeciding({ item, choice })} />
            ))}
          </Stack>
        )}
      </PagedList>
      {deciding !== null && <DecisionDialog {...deciding} onClose={() => setDeciding(null)} />}
    </Page>
  );
}

function Nothing({ state }: { state: State }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { can } = useRole();
  if (state === 'decided') return <EmptyState icon={BadgeCheck} title={t('approvals.noneDecided')} />;
  return (
    <EmptyState
      icon={BadgeCheck}
      title={t('approvals.emptyTitle')}
      action={
        can('editor') && (
          <Button
            variant="default"
            component={Link}
            to={`/o/${org}/templates`}
            search={{ search: 'wait.approval' } as never}
          >
            {t('approvals.emptyAction')}
          </Button>
        )
      }
    >
      {t('approvals.emptyText')}
    </EmptyState>
  );
}

function Question({ item, onDecide }: { item: Approval; onDecide: (choice: Choice) => void }) {
  const { t } = useTranslation();
  const org = useOrg();
  const nameChoices = useChoiceNames();
  const { can } = useRole();
  return (
    <Paper component="li" withBorder p="sm">
      <Stack gap="xs">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <Title order={2} style={{ overflowWrap: 'anywhere' }}>
            {item.title}
          </Title>
          {item.is_test_mode && (
            <IconBadge icon={FlaskConical} color="grape">
              {t('executions.testMode')}
            </IconBadge>
          )}
        </Group>
        <QuestionText text={item.message} />
        <Hint component="div">
          {t('approvals.execution')}{' '}
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
          {t('approvals.asked')} <Moment at={item.created_at} />
          {item.decision === null && (
            <>
              {' · '}
              {t('approvals.openUntil')} <Moment at={item.expires_at} relative={false} />
            </>
          )}
        </Hint>
        {item.decision !== null && <Decision item={item} decision={item.decision} />}
        {item.decision === null && !can('editor') && <Hint>{t('approvals.noRole')}</Hint>}
        {item.decision === null && can('editor') && (
          <Group gap="xs">
            {nameChoices(item.choices).map((each) => (
              <Button key={each.id} variant="default" onClick={() => onDecide(each)}>
                {each.label}
              </Button>
            ))}
          </Group>
        )}
      </Stack>
    </Paper>
  );
}
