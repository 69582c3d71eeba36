import { Textarea, TextInput } from '@mantine/core';
import { lazy, Suspense, type SyntheticEvent, useRef } from 'react';
import { useForm } from './form-context.tsx';

/** Asked for with the first form: most fields need it. */
const editor = import('./template-editor.tsx');
const TemplateEditor = lazy(() => editor);

export interface TemplateInputProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly label: string;
  readonly isMultiline?: boolean;
  readonly placeholder?: string | undefined;
  /** A text and nothing else. */
  readonly isPlain?: boolean;
}

/**
 * A text with templates; a plain field until the editor is loaded, so that nothing that is typed early is lost. Who is in
 * it by then goes on at the same place.
 */
export function TemplateInput({
  value,
  onChange,
  label,
  isMultiline = false,
  placeholder = '',
  isPlain = false,
}: TemplateInputProps) {
  const { hints, isReadOnly } = useForm();
  /** Where somebody writes in the plain field; null when nobody does. */
  const cursor = useRef<number | null>(null);
  const remember = ({ currentTarget }: SyntheticEvent<HTMLInputElement | HTMLTextAreaElement>) => {
    cursor.current = currentTarget.selectionStart ?? currentTarget.value.length;
  };
  const Plain = isMultiline ? Textarea : TextInput;
  const fallback = (
    <Plain
      aria-label={label}
      value={value}
      placeholder={placeholder}
      readOnly={isReadOnly}
      onChange={(event) => {
        remember(event);
        onChange(event.currentTarget.value);
      }}
      onFocus={remember}
      onSelect={remember}
      onBlur={() => {
        cursor.current = null;
      }}
    />
  );
  if (isPlain) return fallback;
  return (
    <Suspense fallback={fallback}>
      <TemplateEditor
        value={value}
        onChange={onChange}
        label={label}
        hints={hints}
        isMultiline={isMultiline}
        placeholder={placeholder}
        isReadOnly={isReadOnly}
        startAt={cursor}
      />
    </Suspense>
  );
}
