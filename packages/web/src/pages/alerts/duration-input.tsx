import { Group, NumberInput, Select } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { UNITS, type Unit, unitOf } from './alert-text.ts';

/** A duration as a number and a unit. */
export function DurationInput({
  label,
  description,
  seconds,
  min = 1,
  onChange,
}: {
  label: string;
  description?: string;
  seconds: number;
  min?: number;
  onChange: (seconds: number) => void;
}) {
  const { t } = useTranslation();
  const [unit, setUnit] = useState<Unit>(() => unitOf(seconds));
  const amount = seconds / UNITS[unit];
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <NumberInput
        label={label}
        {...(description === undefined ? {} : { description })}
        value={amount}
        onChange={(next) => onChange(typeof next === 'number' ? Math.round(next * UNITS[unit]) : min)}
        min={min}
        allowDecimal={false}
        flex={1}
      />
      <Select
        w={120}
        aria-label={t('alerts.unit')}
        data={(Object.keys(UNITS) as Unit[]).map((value) => ({ value, label: t(`alerts.units.${value}`) }))}
        value={unit}
        onChange={(next) => {
          const chosen = (next ?? 'seconds') as Unit;
          setUnit(chosen);
          onChange(Math.max(1, Math.round(amount)) * UNITS[chosen] * (amount === 0 ? 0 : 1));
        }}
        allowDeselect={false}
      />
    </Group>
  );
}
