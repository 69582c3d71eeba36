import { type JsonValue, stringifyJson, tryParseJson } from '@millrace/engine';
import { Code } from '@millrace/ui/components/code.tsx';
import { FieldError } from '@millrace/ui/components/text.tsx';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../form/form-context.tsx';
import { TableAsJson } from './rows-target.tsx';

/** A value as JSON; invalid JSON stays in the field and changes nothing. */
export function JsonInput({
  value,
  onChange,
  label,
}: {
  value: JsonValue | undefined;
  onChange: (value: JsonValue | undefined) => void;
  label: string;
}) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const outer = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [text, setText] = useState(outer);
  const isSame = canonical(text) === canonical(outer);
  const [seen, setSeen] = useState(outer);
  // The value was changed elsewhere (undo, an example): update the field.
  if (outer !== seen) {
    setSeen(outer);
    if (!isSame) setText(outer);
  }
  const change = (next: string) => {
    setText(next);
    const read = tryParseJson(next);
    // While typing, the editor marks invalid JSON.
    if (read !== undefined || next.trim() === '') onChange(read);
  };
  return (
    <TableAsJson>
      <Code
        value={text}
        onChange={change}
        label={label}
        language="json"
        isReadOnly={isReadOnly}
        minHeight={60}
      />
      {canonical(text) === null && <FieldError mt={2}>{t('forms.noJson')}</FieldError>}
    </TableAsJson>
  );
}

function canonical(text: string): string | null {
  if (text.trim() === '') return '';
  const value = tryParseJson(text);
  return value === undefined ? null : stringifyJson(value);
}
