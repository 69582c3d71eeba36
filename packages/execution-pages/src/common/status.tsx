import { Group, Text } from '@mantine/core';
import type { ExecutionItem, NodeSummary } from '@millrace/admin-api';
import { IconBadge } from '@millrace/ui/components/icon-badge.tsx';
import { EXECUTION_STATUS_STYLES, NODE_STATUS_STYLES } from '@millrace/ui/components/status-styles.ts';
import type { TFunction } from 'i18next';
import {
  CalendarClock,
  CircleAlert,
  CircleHelp,
  Code,
  FlaskConical,
  Hand,
  type LucideIcon,
  PencilLine,
  RefreshCw,
  Webhook,
  Workflow,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { TRIGGERS } from './search.ts';

/** Centres an icon on a line of text. */
const ALIGNED = { verticalAlign: 'middle' };

/** An execution's status: colour, icon and label. */
export function ExecutionStatus({ status }: { status: ExecutionItem['status'] }) {
  const { t } = useTranslation();
  return (
    <IconBadge {...EXECUTION_STATUS_STYLES[status]} data-status={status} style={ALIGNED}>
      {t(`executions.status.${status}`)}
    </IconBadge>
  );
}

/** A node's status: colour, icon and label. */
export function NodeStatus({ status }: { status: NodeSummary['status'] }) {
  const { t } = useTranslation();
  return (
    <IconBadge {...NODE_STATUS_STYLES[status]} style={ALIGNED}>
      {t(`common.nodeStatus.${status}`)}
    </IconBadge>
  );
}

/** Badges for test mode and for unsaved drafts. */
export function ExecutionMarks({ item }: { item: Pick<ExecutionItem, 'is_test_mode' | 'workflow_version'> }) {
  const { t } = useTranslation();
  return (
    <>
      {item.is_test_mode && (
        <IconBadge icon={FlaskConical} color="grape" hint={t('executions.testHint')}>
          {t('executions.testMode')}
        </IconBadge>
      )}
      {item.workflow_version < 0 && (
        <IconBadge icon={PencilLine} color="yellow" hint={t('executions.trialHint')}>
          {t('executions.trial')}
        </IconBadge>
      )}
    </>
  );
}

const TRIGGER_ICONS: { readonly [type: string]: LucideIcon } = {
  api: Code,
  webhook: Webhook,
  schedule: CalendarClock,
  poll: RefreshCw,
  manual: Hand,
  flow: Workflow,
  error: CircleAlert,
};

export function TriggerName({ type }: { type: string }) {
  const { t } = useTranslation();
  const Icon = TRIGGER_ICONS[type] ?? CircleHelp;
  return (
    <Group gap={6} wrap="nowrap" component="span">
      <Icon size={14} aria-hidden style={{ flexShrink: 0 }} />
      <Text size="sm" component="span" truncate inherit>
        {triggerText(t, type)}
      </Text>
    </Group>
  );
}

/** The same as plain text. */
export function triggerText(t: TFunction, type: string): string {
  const known = TRIGGERS.find((each) => each === type);
  return known === undefined ? type : t(`executions.trigger.${known}`);
}
