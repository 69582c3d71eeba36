import { Group, Text } from '@mantine/core';
import {
  CalendarClock,
  CircleHelp,
  ClipboardList,
  Database,
  Hand,
  type LucideIcon,
  Mail,
  MessageSquare,
  RefreshCw,
  Rss,
  Webhook,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';

const TRIGGER_ICONS = {
  'trigger.webhook': Webhook,
  'trigger.form': ClipboardList,
  'trigger.chat': MessageSquare,
  'trigger.schedule': CalendarClock,
  'trigger.manual': Hand,
  'trigger.rss': Rss,
  'trigger.poll': RefreshCw,
  'trigger.email': Mail,
  'trigger.redis': Database,
  'trigger.mqtt': MessageSquare,
  'trigger.postgresql': Database,
  'trigger.sqs': MessageSquare,
} as const satisfies { readonly [type: `trigger.${string}`]: LucideIcon };

type Known = keyof typeof TRIGGER_ICONS;
type NameOf<Type extends Known> = Type extends `trigger.${infer Name}` ? Name : never;
type Name = NameOf<Known>;

/** A workflow's trigger: icon and label. */
export function TriggerName({ type }: { type: string | null }) {
  const { t } = useTranslation();
  // Those of services poll.
  const shown = type !== null && /^trigger\.\w+\./.test(type) ? 'trigger.poll' : type;
  const known = Object.keys(TRIGGER_ICONS).find((each) => each === shown) as Known | undefined;
  const Icon = known === undefined ? CircleHelp : TRIGGER_ICONS[known];
  const name = (known?.slice('trigger.'.length) ?? 'none') as Name | 'none';
  return (
    <Group gap={6} wrap="nowrap">
      <Icon size={14} aria-hidden />
      <Text size="sm" truncate>
        {t(`workflows.triggerName.${name}`)}
      </Text>
    </Group>
  );
}
