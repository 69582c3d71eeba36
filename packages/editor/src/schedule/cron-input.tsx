import { Checkbox, Code, Group, NumberInput, Select, Stack, TextInput } from '@mantine/core';
import {
  type CronPattern,
  cronOf,
  PATTERN_KINDS,
  type PatternKind,
  patternOf,
  startOf,
} from '@millrace/editor-model/cron-pattern.ts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HelperProps } from './moment-input.tsx';

/** Builds a cron expression from common patterns, with free input for experts. */
export function CronInput({ id, describedBy, label, value, onChange, placeholder, isDisabled }: HelperProps) {
  const { t } = useTranslation();
  const found = patternOf(value);
  // An expression that matches a pattern can still be edited as text.
  const [isCustom, setIsCustom] = useState(found.kind === 'custom' && value !== '');
  const pattern: CronPattern = isCustom || value === '' ? { kind: 'custom', cron: value } : found;
  const choose = (kind: PatternKind) => {
    setIsCustom(kind === 'custom');
    onChange(cronOf(startOf(kind, value === '' ? startOf('daily', found) : found)));
  };
  return (
    <Stack gap={6}>
      <Select
        id={id}
        aria-describedby={describedBy}
        data={PATTERN_KINDS.map((kind) => ({ value: kind, label: t(`forms.cron.${kind}`) }))}
        value={value === '' && !isCustom ? null : pattern.kind}
        placeholder={t('forms.cron.choose')}
        onChange={(next) => next !== null && choose(next as PatternKind)}
        allowDeselect={false}
        disabled={isDisabled}
      />
      {pattern.kind === 'custom' ? (
        (isCustom || value !== '') && (
          <TextInput
            aria-label={label}
            ff="monospace"
            value={value}
            placeholder={placeholder}
            disabled={isDisabled}
            onChange={(event) => {
              setIsCustom(true);
              onChange(event.currentTarget.value);
            }}
          />
        )
      ) : (
        <>
          <PatternFields
            pattern={pattern}
            onChange={(next) => onChange(cronOf(next))}
            isDisabled={isDisabled}
          />
          <Code w="fit-content">{value}</Code>
        </>
      )}
    </Stack>
  );
}

function PatternFields({
  pattern,
  onChange,
  isDisabled,
}: {
  pattern: Exclude<CronPattern, { kind: 'custom' }>;
  onChange: (pattern: CronPattern) => void;
  isDisabled: boolean;
}) {
  const { t } = useTranslation();
  const time = 'time' in pattern && (
    <TextInput
      type="time"
      label={t('forms.cron.time')}
      value={pattern.time}
      disabled={isDisabled}
      onChange={({ currentTarget: { value } }) => value !== '' && onChange({ ...pattern, time: value })}
    />
  );
  const number = (props: {
    label: string;
    value: number;
    min: number;
    max: number;
    set: (to: number) => void;
  }) => (
    <NumberInput
      label={props.label}
      value={props.value}
      min={props.min}
      max={props.max}
      clampBehavior="strict"
      allowDecimal={false}
      disabled={isDisabled}
      onChange={(next) => typeof next === 'number' && props.set(next)}
    />
  );
  switch (pattern.kind) {
    case 'minutes':
      return number({
        label: t('forms.cron.everyMinutes'),
        value: pattern.every,
        min: 1,
        max: 59,
        set: (every) => onChange({ ...pattern, every }),
      });
    case 'hourly':
      return number({
        label: t('forms.cron.minute'),
        value: pattern.minute,
        min: 0,
        max: 59,
        set: (minute) => onChange({ ...pattern, minute }),
      });
    case 'daily':
      return time;
    case 'weekly':
      return (
        <Group gap="sm" align="flex-start">
          {time}
          <WeekDays
            days={pattern.days}
            onChange={(days) => onChange({ ...pattern, days })}
            isDisabled={isDisabled}
          />
        </Group>
      );
    case 'monthly':
      return (
        <Group gap="sm" align="flex-start" grow>
          {number({
            label: t('forms.cron.day'),
            value: pattern.day,
            min: 1,
            max: 31,
            set: (day) => onChange({ ...pattern, day }),
          })}
          {time}
        </Group>
      );
  }
}

/** 5 January 2020 was a Sunday. */
const SUNDAY_MS = Date.UTC(2020, 0, 5);
const DAY_MS = 86_400_000;

function WeekDays({
  days,
  onChange,
  isDisabled,
}: {
  days: readonly number[];
  onChange: (days: readonly number[]) => void;
  isDisabled: boolean;
}) {
  const { t, i18n } = useTranslation();
  const name = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: 'UTC' });
  return (
    <Checkbox.Group
      size="xs"
      label={t('forms.cron.days')}
      value={days.map(String)}
      // A schedule without a day would never fire.
      onChange={(next) => next.length > 0 && onChange(next.map(Number).sort((a, b) => a - b))}
    >
      <Group gap="xs" pt={4}>
        {[1, 2, 3, 4, 5, 6, 0].map((day) => (
          <Checkbox
            key={day}
            size="xs"
            value={String(day)}
            label={name.format(SUNDAY_MS + day * DAY_MS)}
            disabled={isDisabled}
          />
        ))}
      </Group>
    </Checkbox.Group>
  );
}
