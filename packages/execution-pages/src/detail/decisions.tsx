import '@millrace/ui/i18n/parts/approvals.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import { Anchor, Group, Stack, Text } from '@mantine/core';
import type { Approval, ExecutionDetail } from '@millrace/admin-api';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { BadgeCheck } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { Decision, QuestionText } from '../approvals/decision.tsx';
import classes from '../common/executions.module.css';
import type { NodeNames } from './node-names.ts';

/** What people decided in an execution: answers to its approvals, and about the tool calls of its agents. */
export function Decisions({
  detail: { decisions },
  names,
  onChoose,
}: {
  detail: ExecutionDetail;
  names: NodeNames;
  onChoose: (nodeId: string) => void;
}) {
  const { t } = useTranslation();
  return (
    <section className={classes.decisions} aria-label={t('approvals.decisions')}>
      <Group gap={6} mb={6}>
        <BadgeCheck size={16} aria-hidden />
        <Text span size="sm" fw={600}>
          {t('approvals.decisions')}
        </Text>
      </Group>
      <Stack gap="sm" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {decisions.map((item) => (
          <Decided key={item.id} item={item}>
            <Anchor component="button" type="button" size="xs" onClick={() => onChoose(item.node_id)}>
              {names.labels.get(item.node_id) ?? item.node_id}
            </Anchor>
          </Decided>
        ))}
      </Stack>
    </section>
  );
}

function Decided({ item, children }: { item: Approval; children: ReactNode }) {
  const { t } = useTranslation();
  const title = useId();
  return (
    <Stack component="li" gap={4} aria-labelledby={title}>
      <Text id={title} size="sm" fw={600} component="div" style={{ overflowWrap: 'anywhere' }}>
        {item.title}
      </Text>
      <Hint component="div">
        {t('executions.error.atNode')} {children} · {t('approvals.asked')} <Moment at={item.created_at} />
      </Hint>
      {item.decision === null ? (
        <Text size="sm">
          {t('approvals.notInTime')} · <Moment at={item.expires_at} relative={false} />
        </Text>
      ) : (
        <Decision item={item} decision={item.decision} />
      )}
      <QuestionText text={item.message} />
    </Stack>
  );
}
