import { Checkbox, MultiSelect, Select, Textarea, TextInput } from '@mantine/core';
import type { Approval } from '@millrace/admin-api';
import { own } from '@millrace/engine';

type ApprovalField = Approval['fields'][number];
/** By the names of the fields; several choices are a list. */
export type Answers = { readonly [name: string]: string | readonly string[] | boolean };

/** The fields that are asked for together with a choice. */
export function fieldsWith(choice: string, { fields }: Pick<Approval, 'fields'>): readonly ApprovalField[] {
  return fields.filter(({ only_with: only }) => only === null || only === choice);
}

/** What the author has filled in. */
export function presetsOf(fields: readonly ApprovalField[]): Answers {
  return Object.fromEntries(
    fields.flatMap(({ name, type, value }): [string, string | boolean][] =>
      value === '' ? [] : [[name, type === 'checkbox' ? true : value]],
    ),
  );
}

/** The fields of an approval, in their order. @param faults by the names of the fields */
export function AnswerFields({
  fields,
  answers,
  faults,
  onChange,
}: {
  fields: readonly ApprovalField[];
  answers: Answers;
  faults: ReadonlyMap<string, string>;
  onChange: (answers: Answers) => void;
}) {
  return fields.map((field) => (
    <AnswerField
      key={field.name}
      field={field}
      value={own(answers, field.name)}
      fault={faults.get(field.name)}
      onChange={(value) => onChange({ ...answers, [field.name]: value })}
    />
  ));
}

function AnswerField({
  field: { label, type, required, help, choices },
  value,
  fault,
  onChange,
}: {
  field: ApprovalField;
  value: Answers[string] | undefined;
  fault: string | undefined;
  onChange: (value: Answers[string]) => void;
}) {
  const shared = {
    label,
    required,
    // The service says what is wrong, for all fields at once.
    ...(help === '' ? {} : { description: help }),
    ...(fault === undefined ? {} : { error: fault }),
  };
  const text = typeof value === 'string' ? value : '';
  switch (type) {
    case 'paragraph':
      return (
        <Textarea
          {...shared}
          autosize
          minRows={2}
          maxRows={8}
          maxLength={10_000}
          value={text}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
    case 'choice':
      return (
        <Select
          {...shared}
          data={choices}
          value={text === '' ? null : text}
          clearable={!required}
          onChange={(chosen) => onChange(chosen ?? '')}
        />
      );
    case 'choices':
      return (
        <MultiSelect
          {...shared}
          data={choices}
          value={Array.isArray(value) ? value : []}
          onChange={onChange}
        />
      );
    case 'checkbox':
      return (
        <Checkbox
          label={label}
          {...(help === '' ? {} : { description: help })}
          {...(fault === undefined ? {} : { error: fault })}
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      );
    default:
      return (
        <TextInput
          {...shared}
          maxLength={10_000}
          {...(type === 'number' ? { inputMode: 'decimal' } : {})}
          {...(type === 'date' ? { type: 'date' } : {})}
          {...(type === 'email' ? { type: 'email' } : {})}
          value={text}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
  }
}
