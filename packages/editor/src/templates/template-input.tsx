import { Textarea, TextInput } from '@mantine/core';
import type { TextRange } from '@millrace/ui/components/use-code-view.ts';
import { lazy, type ReactNode, Suspense, type SyntheticEvent, useRef } from 'react';
import { useForm } from '../form/form-context.tsx';
import type { TemplateEditorProps } from './template-editor.tsx';

let editor: Promise<{ readonly default: (props: TemplateEditorProps) => ReactNode }> | undefined;

/** Loads the editor of templates ahead of a form whose fields need it. If it fails to load, a plain field is used. */
export function loadTemplateEditor() {
  editor ??= import('./template-editor.tsx').catch(() => ({ default: PlainEditor }));
  return editor;
}
const TemplateEditor = lazy(loadTemplateEditor);

export interface TemplateInputProps {
  value: string;
  onChange: (value: string) => void;
  label: string;
  isMultiline?: boolean;
  /** Starts with one line and may grow. */
  takesLines?: boolean;
  placeholder?: string | undefined;
  /** Plain text. */
  isPlain?: boolean;
  /** Takes the focus when it appears, with the cursor at the end. */
  takesFocus?: boolean;
}

/**
 * A template field; plain until the editor has loaded, so that early input isn't lost. A focused field keeps its
 * selection.
 */
export function TemplateInput({
  value,
  onChange,
  label,
  isMultiline = false,
  takesLines = isMultiline,
  placeholder = '',
  isPlain = false,
  takesFocus = false,
}: TemplateInputProps) {
  const { hints, preview, isReadOnly } = useForm();
  /** What is selected in the plain field; null without focus. */
  const selection = useRef<TextRange | null>(takesFocus ? { from: value.length, to: value.length } : null);
  const props = { value, onChange, label, hints, preview, isMultiline, takesLines, placeholder, isReadOnly };
  const fallback = <PlainEditor {...props} startAt={selection} />;
  if (isPlain) return fallback;
  return (
    <Suspense fallback={fallback}>
      <TemplateEditor {...props} startAt={selection} />
    </Suspense>
  );
}

/** Without completion. Records the selection. */
function PlainEditor({
  value,
  onChange,
  label,
  isMultiline = false,
  takesLines = isMultiline,
  placeholder = '',
  isReadOnly = false,
  startAt,
}: TemplateEditorProps) {
  const remember = ({ currentTarget }: SyntheticEvent<HTMLInputElement | HTMLTextAreaElement>) => {
    if (startAt === undefined) return;
    const { selectionStart: from, selectionEnd: to, value: text } = currentTarget;
    startAt.current = { from: from ?? text.length, to: to ?? text.length };
  };
  // Single-line inputs strip line breaks, also those that are pasted.
  const hasLines = takesLines || value.includes('\n');
  const Plain = hasLines ? Textarea : TextInput;
  return (
    <Plain
      {...(hasLines && !isMultiline ? { rows: 1 } : {})}
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
