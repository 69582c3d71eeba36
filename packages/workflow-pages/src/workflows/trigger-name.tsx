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
  'trigger.kafka': MessageSquare,
  'trigger.postgresql': Database,
  'trigger.sqs': MessageSquare,
} as const satisfies { readonly [type: `trigger.${string}`]: LucideIcon };

type Known = keyof typeof TRIGGER_ICONS;
type NameOf<Type extends Known> = Type extends `trigger.${infer Name}` ? Name : never;
type Name = NameOf<Known>;

/** A workflow's trigger: icon and label. @param others types of its other triggers, which are shown as icons beside it */
export function TriggerName({ type, others = [] }: { type: string | null; others?: readonly string[] }) {
  const { t } = useTranslation();
  const knownOf = (name: string | null) => {
    // Those of services poll.
    const shown = name !== null && /^trigger\.\w+\./.test(name) ? 'trigger.poll' : name;
    return Object.keys(TRIGGER_ICONS).find((each) => each === shown) as Known | undefined;
  };
  const nameOf = (known: Known | undefined) => (known?.slice('trigger.'.length) ?? 'none') as Name | 'none';
  const known = knownOf(type);
  const Icon = known === undefined ? CircleHelp : TRIGGER_ICONS[known];
  const name = nameOf(known);
  return (
    <Group gap={6} wrap="nowrap">
      <Icon size={14} aria-hidden />
      <Text size="sm" truncate>
        {t(`workflows.triggerName.${name}`)}
      </Text>
      {others.flatMap((each) => {
        const other = knownOf(each);
        if (other === undefined) return [];
        const OtherIcon = TRIGGER_ICONS[other];
        const title = t(`workflows.triggerName.${nameOf(other)}`);
        return [
          <OtherIcon key={each} size={14} role="img" aria-label={title}>
            <title>{title}</title>
          </OtherIcon>,
        ];
      })}
    </Group>
  );
}
