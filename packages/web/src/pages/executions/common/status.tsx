import { Badge, Group, Text, Tooltip } from '@mantine/core';
import type { ExecutionItem, NodeSummary } from '@millrace/admin-api';
import { EXECUTION_LOOKS, NODE_LOOKS } from '@millrace/ui/components/status-looks.ts';
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
  Webhook,
  Workflow,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { TRIGGERS } from './search.ts';

/** In the middle of a line of text, and never squeezed. */
const ALIGNED = { verticalAlign: 'middle', flexShrink: 0 } as const;

/** The status of an execution, in colour, picture and word. */
export function ExecutionStatus({ status }: { status: ExecutionItem['status'] }) {
  const { t } = useTranslation();
  const { icon: Icon, color } = EXECUTION_LOOKS[status];
  return (
    <Badge color={color} leftSection={<Icon size={12} aria-hidden />} data-status={status} style={ALIGNED}>
      {t(`executions.status.${status}`)}
    </Badge>
  );
}

/** The status of a node, likewise. */
export function NodeStatus({ status }: { status: NodeSummary['status'] }) {
  const { t } = useTranslation();
  const { icon: Icon, color } = NODE_LOOKS[status];
  return (
    <Badge color={color} leftSection={<Icon size={12} aria-hidden />} style={ALIGNED}>
      {t(`executions.nodeStatus.${status}`)}
    </Badge>
  );
}

/** What is special about an execution: test mode, a draft that was never saved. */
export function ExecutionMarks({ item }: { item: Pick<ExecutionItem, 'is_test_mode' | 'workflow_version'> }) {
  const { t } = useTranslation();
  return (
    <>
      {item.is_test_mode && (
        <Tooltip label={t('executions.testHint')} multiline maw={280}>
          <Badge color="grape" leftSection={<FlaskConical size={10} aria-hidden />} style={{ flexShrink: 0 }}>
            {t('executions.testMode')}
          </Badge>
        </Tooltip>
      )}
      {item.workflow_version < 0 && (
        <Tooltip label={t('executions.trialHint')}>
          <Badge color="yellow" leftSection={<PencilLine size={10} aria-hidden />} style={{ flexShrink: 0 }}>
            {t('executions.trial')}
          </Badge>
        </Tooltip>
      )}
    </>
  );
}

const TRIGGER_ICONS: { readonly [type: string]: LucideIcon } = {
  api: Code,
  webhook: Webhook,
  schedule: CalendarClock,
  manual: Hand,
  flow: Workflow,
  error: CircleAlert,
};

/** What started an execution. */
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

/** The same as text alone. */
export function triggerText(t: TFunction, type: string): string {
  const known = TRIGGERS.find((each) => each === type);
  return known === undefined ? type : t(`executions.trigger.${known}`);
}
