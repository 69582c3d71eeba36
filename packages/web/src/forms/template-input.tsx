import { Textarea, TextInput } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useForm } from './form-context.tsx';

const TemplateEditor = lazy(() => import('./template-editor.tsx'));

export interface TemplateInputProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly label: string;
  readonly isMultiline?: boolean;
  readonly placeholder?: string | undefined;
}

/** A text with templates; a plain field until the editor is loaded, so that nothing that is typed early is lost. */
export function TemplateInput({
  value,
  onChange,
  label,
  isMultiline = false,
  placeholder = '',
}: TemplateInputProps) {
  const { hints, isReadOnly } = useForm();
  const Plain = isMultiline ? Textarea : TextInput;
  const fallback = (
    <Plain
      aria-label={label}
      value={value}
      placeholder={placeholder}
      readOnly={isReadOnly}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
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
      />
    </Suspense>
  );
}
