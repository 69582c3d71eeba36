import './field-frame.css';
import { Box, Group, Input, Text } from '@mantine/core';
import { showValue } from '@millrace/editor-model/known-values.ts';
import type { JsonValue } from '@millrace/engine';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { WithCode } from '@millrace/ui/components/with-code.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { Braces, X } from 'lucide-react';
import { type DragEvent, type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm, useProblem } from '../form/form-context.tsx';
import { droppedPath, isPath, TAKES_DATA, useInsertTarget } from '../form/insert-target.ts';

export interface FieldFrameProps {
  label: string;
  description?: string | undefined;
  pointer: string;
  isRequired?: boolean;
  /** Switches between a value and a template; null if the field always or never accepts templates. */
  templateSwitch?: { readonly isOn: boolean; readonly onToggle: () => void } | null;
  /** Removes the value; absent if it is required. */
  onClear?: (() => void) | undefined;
  /** Whether deleting its text clears it, so that Tab may skip the button that does. */
  isTyped?: boolean;
  /** The string to preview. */
  text?: string | null;
  isBare?: boolean;
  /** See `FieldProps`. */
  isInner?: boolean;
  /** Whether the value is edited as a whole, so that all problems within it are shown here. */
  isWhole?: boolean;
  /** Whether it is empty and must not stay so. */
  isToFill?: boolean;
  actions?: ReactNode;
  /** Takes data that is clicked beside the form or dropped here, for a control that isn't a template field. */
  onInsert?: ((path: string) => void) | undefined;
  /** Receives the id that the label refers to. */
  children: (ids: { readonly id: string; readonly describedBy: string }) => ReactNode;
}

/** A field's label, template switch, description, problem, and template preview. */
export function FieldFrame(props: FieldFrameProps) {
  const {
    label,
    description,
    pointer,
    isRequired = false,
    templateSwitch = null,
    onClear,
    text = null,
  } = props;
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const problem = useProblem(pointer, props.isWhole);
  const id = useId();
  const describedBy = `${id}-about`;
  const onInsert = isReadOnly ? undefined : props.onInsert;
  const frame = useInsertTarget(onInsert, props.isToFill !== true);
  const drop = useDrop(onInsert);
  const control = props.children({ id, describedBy });
  return (
    <Box ref={frame} {...(props.isToFill === true ? { 'data-to-fill': true } : {})} {...drop}>
      {props.isBare === true ? (
        control
      ) : (
        // The control comes before the actions, so that Tab leads from field to field.
        <div className="form-field">
          <Input.Label htmlFor={id} size="xs" required={isRequired} labelElement="label">
            {label}
          </Input.Label>
          <div>{control}</div>
          <Group gap={2} wrap="nowrap" mih={22}>
            {!isReadOnly && templateSwitch !== null && <TemplateSwitch label={label} {...templateSwitch} />}
            {!isReadOnly && onClear !== undefined && (
              <IconButton
                icon={X}
                label={t('forms.clearField', { label })}
                hint={t('forms.clear')}
                size="xs"
                tabIndex={props.isTyped === true ? -1 : 0}
                onClick={onClear}
              />
            )}
            {props.actions}
          </Group>
        </div>
      )}
      {text !== null && <PreviewLine text={text} problem={problem} />}
      {problem !== null && props.isInner !== true && (
        <Input.Error size="xs" mt={4} role="alert">
          {problem}
        </Input.Error>
      )}
      {props.isBare !== true && description !== undefined && description !== '' && (
        <Hint id={describedBy} mt={2}>
          <WithCode text={description} />
        </Hint>
      )}
    </Box>
  );
}

/** Takes paths that are dropped anywhere on a field, unless something within it has taken them. */
function useDrop(onInsert: ((path: string) => void) | undefined) {
  const [isOver, setIsOver] = useState(false);
  if (onInsert === undefined) return {};
  return {
    [TAKES_DATA]: isOver ? 'now' : '',
    onDragOver(event: DragEvent) {
      if (event.defaultPrevented || !isPath(event.dataTransfer)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
      setIsOver(true);
    },
    onDragLeave: () => setIsOver(false),
    onDrop(event: DragEvent) {
      setIsOver(false);
      const path = event.defaultPrevented ? null : droppedPath(event.dataTransfer);
      if (path === null) return;
      event.preventDefault();
      onInsert(path);
    },
  };
}

function TemplateSwitch({ label, isOn, onToggle }: { label: string; isOn: boolean; onToggle: () => void }) {
  const { t } = useTranslation();
  return (
    <IconButton
      icon={Braces}
      label={t('forms.templateFor', { label })}
      hint={isOn ? t('forms.useValue') : t('forms.useTemplate')}
      size="xs"
      variant={isOn ? 'light' : 'subtle'}
      color={isOn ? 'teal' : 'gray'}
      onClick={onToggle}
      aria-pressed={isOn}
    />
  );
}

/** The template rendered with the known values, or its mistake, unless that is shown as the field's problem. */
function PreviewLine({ text, problem }: { text: string; problem: string | null }) {
  const { t } = useTranslation();
  const { preview } = useForm();
  const result = preview(text);
  if (result === null) return null;
  if (result.kind === 'mistake') {
    const mistake = translateMessage(result.mistake);
    if (mistake === problem) return null;
    return (
      <Input.Error size="xs" mt={2}>
        {mistake}
      </Input.Error>
    );
  }
  if (result.kind === 'unknown' || result.kind === 'large') {
    return <Hint mt={2}>{t(result.kind === 'large' ? 'forms.previewLarge' : 'forms.previewUnknown')}</Hint>;
  }
  return (
    <Text size="xs" mt={2} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
      <Hint span aria-label={t('forms.preview')}>
        ={' '}
      </Hint>
      {showValue(result.value)}
    </Text>
  );
}

/** Describes the default value of an optional field. */
export function defaultNote(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'string' ? value : showValue(value);
}
