import { Textarea, TextInput } from '@mantine/core';
import { lazy, Suspense, type SyntheticEvent, useRef } from 'react';
import { useForm } from '../form/form-context.tsx';
import type { TemplateEditorProps } from './template-editor.tsx';

/** Asked for with the first form: most fields need it. One can write without it when it cannot be had. */
const editor = import('./template-editor.tsx').catch(() => ({ default: PlainEditor }));
const TemplateEditor = lazy(() => editor);

export interface TemplateInputProps {
  value: string;
  onChange: (value: string) => void;
  label: string;
  isMultiline?: boolean;
  /** Begins with one line and may have more. */
  takesLines?: boolean;
  placeholder?: string | undefined;
  /** Plain text. */
  isPlain?: boolean;
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
  takesLines = isMultiline,
  placeholder = '',
  isPlain = false,
}: TemplateInputProps) {
  const { hints, isReadOnly } = useForm();
  /** Where somebody writes in the plain field; null when nobody does. */
  const cursor = useRef<number | null>(null);
  const props = { value, onChange, label, hints, isMultiline, takesLines, placeholder, isReadOnly };
  const fallback = <PlainEditor {...props} startAt={cursor} />;
  if (isPlain) return fallback;
  return (
    <Suspense fallback={fallback}>
      <TemplateEditor {...props} startAt={cursor} />
    </Suspense>
  );
}

/** The same without completion. It remembers where one writes. */
function PlainEditor({
  value,
  onChange,
  label,
  isMultiline = false,
  placeholder = '',
  isReadOnly = false,
  startAt,
}: TemplateEditorProps) {
  const remember = ({ currentTarget }: SyntheticEvent<HTMLInputElement | HTMLTextAreaElement>) => {
    if (startAt !== undefined) startAt.current = currentTarget.selectionStart ?? currentTarget.value.length;
  };
  // The browser takes line breaks out of a field of one line.
  const Plain = isMultiline || value.includes('\n') ? Textarea : TextInput;
  return (
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
        if (startAt !== undefined) startAt.current = null;
      }}
    />
  );
}
