import { Group, Text } from '@mantine/core';
import { CalendarClock, CircleHelp, Hand, type LucideIcon, Webhook } from 'lucide-react';
import { useTranslation } from 'react-i18next';

const TRIGGER_ICONS: { readonly [type: string]: LucideIcon } = {
  'trigger.webhook': Webhook,
  'trigger.schedule': CalendarClock,
  'trigger.manual': Hand,
};

/** A workflow's trigger: icon and label. */
export function TriggerName({ type }: { type: string | null }) {
  const { t } = useTranslation();
  const Icon = TRIGGER_ICONS[type ?? ''] ?? CircleHelp;
  const name =
    type === 'trigger.webhook' || type === 'trigger.schedule' || type === 'trigger.manual'
      ? type.slice('trigger.'.length)
      : 'none';
  return (
    <Group gap={6} wrap="nowrap">
      <Icon size={14} aria-hidden />
      <Text size="sm" truncate>
        {t(`workflows.triggerName.${name as 'webhook' | 'schedule' | 'manual' | 'none'}`)}
      </Text>
    </Group>
  );
}
