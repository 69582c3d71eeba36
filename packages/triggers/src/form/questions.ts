import type { JsonObject, JsonValue } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { validatorOf } from '@millrace/node-kit/validator';
import { type Static, Type } from 'typebox';
import { isFieldName } from './field-names.ts';
import { completeFields, type FormField, fieldSchema, TYPE_LABELS } from './fields.ts';

/** What can be asked for beside a decision: nothing that needs a page or an upload. */
const QUESTION_TYPES = [
  'text',
  'paragraph',
  'number',
  'email',
  'date',
  'choice',
  'choices',
  'checkbox',
] as const;

const MAX_QUESTIONS = 30;

const { required, help, choices } = fieldSchema.properties;

const questionSchema = Type.Object(
  {
    label: Type.String({
      title: 'Label',
      description: 'What the reader sees above the field.',
      maxLength: 200,
      default: '',
    }),
    name: Type.String({
      title: 'Name',
      description:
        'The name of the value: {{nodes.<node>.output.values.<name>}} reads it. Letters, digits and spaces, not starting with _.',
      maxLength: 100,
      default: '',
    }),
    type: Type.Enum([...QUESTION_TYPES], {
      type: 'string',
      title: 'Type',
      description: 'What can be entered.',
      default: 'text',
      'x-labels': Object.fromEntries(QUESTION_TYPES.map((type) => [type, TYPE_LABELS[type]])),
    }),
    required,
    help,
    choices,
    value: Type.Optional(
      Type.String({
        title: 'Preset value',
        description: 'Filled in beforehand.',
        maxLength: 10_000,
        default: '',
        'x-when': { type: ['text', 'paragraph', 'number', 'email', 'date', 'choice'] },
      }),
    ),
  },
  { title: 'Field', additionalProperties: false },
);

/** Fields that somebody fills in together with a decision. */
export const questionsSchema = Type.Array(questionSchema, {
  title: 'Fields',
  description: 'What else to ask for. The values are in the output, whatever the decision.',
  maxItems: MAX_QUESTIONS,
  default: [],
});

/** As stored: those of services may ask for JSON, too, and belong to one choice. */
const storedQuestions = Type.Array(
  Type.Object(
    {
      ...questionSchema.properties,
      schema: Type.Optional(Type.Unsafe<JsonObject>({ type: 'object' })),
      only_with: Type.Optional(Type.String()),
    },
    { additionalProperties: false },
  ),
  { maxItems: MAX_QUESTIONS },
);

const validator = validatorOf(Type.Object({ fields: storedQuestions }, { additionalProperties: false }));

/** Stored or written fields with defaults filled in; null if they don't match the schema. */
export function readQuestions(fields: JsonValue): readonly FormField[] | null {
  const given: unknown = { fields };
  if (!validator().Check(given)) return null;
  return completeFields((given as { fields: Static<typeof storedQuestions> }).fields);
}

/** Why these fields can't be asked for; null if they can. */
export function faultOfQuestions(fields: readonly FormField[]): Message | null {
  const names = new Set<string>();
  for (const { name, label: text, type, choices: options } of fields) {
    if (!isFieldName(name)) return message('nodes.form_field_name');
    if (names.has(name)) return message('nodes.form_field_twice', { name });
    if (text.trim() === '') return message('nodes.form_field_label');
    if ((type === 'choice' || type === 'choices') && options.length === 0)
      return message('nodes.form_no_choices');
    names.add(name);
  }
  return null;
}

/** A field as JSON, without what it leaves out. */
export function writeQuestion({
  label: text,
  name,
  type,
  required: must,
  help: hint,
  choices: options,
  value: preset,
}: FormField): JsonObject {
  return {
    ...{ label: text, name, type },
    ...(must ? { required: true } : {}),
    ...(hint === '' ? {} : { help: hint }),
    ...(options.length === 0 ? {} : { choices: options }),
    ...(preset === '' ? {} : { value: preset }),
  };
}
