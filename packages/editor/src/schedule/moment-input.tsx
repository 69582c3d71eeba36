import { Select, TextInput } from '@mantine/core';
import { localText } from '@millrace/ui/components/time.tsx';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Props of an input helper for a formatted string. */
export interface HelperProps {
  id: string;
  describedBy: string;
  label: string;
  value: string;
  /** Empty: omitted. */
  onChange: (value: string) => void;
  placeholder: string;
  isDisabled: boolean;
}

/** An IANA time zone, searchable by part of its name. */
export function TimeZoneInput({ id, describedBy, value, onChange, placeholder, isDisabled }: HelperProps) {
  const { t } = useTranslation();
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  const others = known.filter((zone) => zone !== own);
  const isKnown = value === '' || known.includes(value);
  return (
    <Select
      id={id}
      aria-describedby={describedBy}
      data={[
        { group: t('forms.ownZone'), items: [own] },
        { group: t('forms.otherZones'), items: isKnown ? others : [value, ...others] },
      ]}
      value={value === '' ? null : value}
      onChange={(next) => onChange(next ?? '')}
      placeholder={placeholder}
      nothingFoundMessage={t('forms.noZone')}
      disabled={isDisabled}
      limit={100}
      searchable
      clearable
    />
  );
}

/** A date and time in the reader's zone, stored with its offset. */
export function MomentInput({ id, describedBy, value, onChange, isDisabled }: HelperProps) {
  const { t } = useTranslation();
  const [text, setText] = useState(() => toLocal(value));
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    setText(toLocal(value));
  }
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  // Hand-written in another format: show it as is.
  if (text === null) {
    return (
      <TextInput
        id={id}
        aria-describedby={describedBy}
        value={value}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <TextInput
      id={id}
      aria-describedby={describedBy}
      type="datetime-local"
      step={1}
      value={text}
      disabled={isDisabled}
      description={t('forms.inYourZone', { zone })}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      onChange={(event) => {
        const next = event.currentTarget.value;
        setText(next);
        const moment = withOffset(next);
        setSeen(moment);
        onChange(moment);
      }}
    />
  );
}

/** The control's format: local time without a zone; empty for none, null if invalid. */
function toLocal(value: string): string | null {
  if (value === '') return '';
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? null : localText(date);
}

/** RFC 3339 with the reader's UTC offset at that time. */
function withOffset(local: string): string {
  const date = new Date(local);
  if (local === '' || Number.isNaN(date.getTime())) return '';
  const minutes = -date.getTimezoneOffset();
  const two = (number: number) => String(Math.trunc(number)).padStart(2, '0');
  const offset = `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
  return `${local.length === 16 ? `${local}:00` : local}${minutes === 0 ? 'Z' : offset}`;
}
