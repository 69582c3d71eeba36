import '@millrace/ui/i18n/parts/approvals.ts';
import { Group, Stack, Text } from '@mantine/core';
import type { Approval } from '@millrace/admin-api';
import { isJsonArray, type JsonValue } from '@millrace/engine';
import { IconBadge } from '@millrace/ui/components/icon-badge.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import type { TFunction } from 'i18next';
import { BadgeCheck } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { fieldsWith } from './answer-fields.tsx';
import { useChoiceNames } from './choice-name.ts';

/** Longer texts scroll, so they must be focusable. */
const LONG_TEXT = 600;

/** What a person is told with the question. */
export function QuestionText({ text }: { text: string }) {
  if (text === '') return null;
  return (
    <Text
      size="sm"
      mah={240}
      {...(text.length > LONG_TEXT ? { tabIndex: 0 } : {})}
      style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', overflowY: 'auto' }}
    >
      {text}
    </Text>
  );
}

/** What was decided, by whom, when and why. */
export function Decision({
  item,
  decision,
}: {
  item: Approval;
  decision: NonNullable<Approval['decision']>;
}) {
  const { t } = useTranslation();
  const nameChoices = useChoiceNames();
  const chosen = nameChoices(item.choices).find(({ id }) => id === decision.choice);
  return (
    <Stack gap={4}>
      <Group gap={6}>
        <IconBadge icon={BadgeCheck} color="teal">
          {chosen?.label ?? decision.choice}
        </IconBadge>
        <Text size="sm" component="span">
          <ByWhom decision={decision} /> · <Moment at={decision.decided_at} />
        </Text>
      </Group>
      {fieldsWith(decision.choice, item).map(({ name, label }) => {
        const value = Object.hasOwn(decision.values, name) ? decision.values[name] : null;
        return (
          <Text key={name} size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            <Text span c="dimmed">
              {label}:
            </Text>{' '}
            {shownValue(value ?? null, t)}
          </Text>
        );
      })}
      {decision.comment !== '' && (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {decision.comment}
        </Text>
      )}
    </Stack>
  );
}

/** A value as people read it. */
function shownValue(value: JsonValue, t: TFunction): string {
  if (value === null || value === '') return '–';
  if (typeof value === 'boolean') return t(value ? 'approvals.yes' : 'approvals.no');
  if (isJsonArray(value)) return value.map((each) => shownValue(each, t)).join(t('common.listSeparator'));
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function ByWhom({ decision: { via, decided_by: name } }: { decision: NonNullable<Approval['decision']> }) {
  const { t } = useTranslation();
  if (via === 'member') return `${t('approvals.by')} ${name ?? ''}`;
  if (via === 'chat') return t('approvals.byChat');
  return name === null ? t('approvals.byLink') : t('approvals.byLinkName', { name });
}
