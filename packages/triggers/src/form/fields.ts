import type { JsonObject } from '@millrace/engine';
import { type Static, Type } from 'typebox';

/** `page` isn't a field: it begins a page. */
export const FIELD_TYPES = [
  'text',
  'paragraph',
  'number',
  'email',
  'date',
  'choice',
  'choices',
  'checkbox',
  'file',
  'hidden',
  'page',
] as const;

export const MAX_FIELDS = 100;
export const MAX_CHOICES = 200;
export const MAX_NAME = 100;
export const MAX_LABEL = 200;
export const MAX_HELP = 1_000;
export const MAX_CHOICE = 200;
/** Of the files that a field takes. */
export const MAX_ACCEPT = 200;
/** Characters of a text that somebody enters. */
export const MAX_TEXT = 10_000;
/** Files that one field takes. */
export const MAX_FILES_OF_FIELD = 10;

/** What each type is called in the editor. */
export const TYPE_LABELS = {
  text: 'Text',
  paragraph: 'Long text',
  number: 'Number',
  email: 'E-mail address',
  date: 'Date',
  choice: 'One choice',
  choices: 'Several choices',
  checkbox: 'Checkbox',
  file: 'File',
  hidden: 'Hidden value',
  page: 'New page',
} as const satisfies { readonly [Type in (typeof FIELD_TYPES)[number]]: string };

const when = (...types: readonly (typeof FIELD_TYPES)[number][]) => ({ 'x-when': { type: types } });

/** One field of a form, as the editor shows it. */
export const fieldSchema = Type.Object(
  {
    label: Type.String({
      title: 'Label',
      description: 'What the reader sees above the field, or as the heading of a page.',
      maxLength: MAX_LABEL,
      default: '',
    }),
    name: Type.String({
      title: 'Name',
      description:
        'The name of the value: {{trigger.data.name}} reads it. Letters, digits and spaces, not starting with _. A page has none.',
      maxLength: MAX_NAME,
      default: '',
    }),
    type: Type.Enum([...FIELD_TYPES], {
      type: 'string',
      title: 'Type',
      description: 'What can be entered. A page puts what follows onto a page of its own.',
      default: 'text',
      'x-labels': TYPE_LABELS,
    }),
    required: Type.Optional(
      Type.Boolean({
        title: 'Required',
        description: 'Whether it has to be filled in. A required checkbox has to be ticked.',
        default: false,
      }),
    ),
    help: Type.Optional(
      Type.String({
        title: 'Help text',
        description: 'Shown below the label.',
        maxLength: MAX_HELP,
        default: '',
      }),
    ),
    choices: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: MAX_CHOICE, title: 'Choice' }), {
        title: 'Choices',
        description: 'What can be chosen, in this order.',
        maxItems: MAX_CHOICES,
        uniqueItems: true,
        default: [],
        ...when('choice', 'choices'),
      }),
    ),
    value: Type.Optional(
      Type.String({
        title: 'Preset value',
        description: 'Filled in beforehand. A parameter of this name in the address of the form replaces it.',
        maxLength: MAX_TEXT,
        default: '',
        ...when('text', 'paragraph', 'number', 'email', 'date', 'choice', 'hidden'),
      }),
    ),
    accept: Type.Optional(
      Type.String({
        title: 'Accepted files',
        description: 'Extensions or media types, separated by commas: .pdf, image/*. Empty for any file.',
        maxLength: MAX_ACCEPT,
        default: '',
        'x-placeholder': '.pdf, image/*',
        ...when('file'),
      }),
    ),
    multiple: Type.Optional(
      Type.Boolean({
        title: 'Several files',
        description: 'Whether more than one file can be chosen, up to 10. The value is then a list.',
        default: false,
        ...when('file'),
      }),
    ),
  },
  { title: 'Field', additionalProperties: false },
);

export const fieldsSchema = Type.Array(fieldSchema, {
  title: 'Fields',
  description:
    'What the form asks for, in this order. Files can only be asked for on the last page. Without fields, the form asks for what the input schema of the workflow describes.',
  maxItems: MAX_FIELDS,
  default: [],
  'x-first': [{ label: 'Your message', name: 'message', type: 'paragraph', required: true }],
});

/** A field with all defaults filled in. */
export type FormField = Required<Static<typeof fieldSchema>> & {
  /** Of a long text that is JSON: what it has to match. Only services ask for that. */
  readonly schema?: JsonObject;
  /** Of an approval: the only choice that it is asked for with. Only services ask for that. */
  readonly only_with?: string;
};

/** Fields with the defaults of what they leave out. */
export function completeFields(fields: readonly Static<typeof fieldSchema>[]): readonly FormField[] {
  return fields.map((field) => ({
    required: false,
    help: '',
    choices: [],
    value: '',
    accept: '',
    multiple: false,
    ...field,
  }));
}

/** What one page of a form asks for. */
export interface FormPage {
  /** Empty for none. */
  readonly heading: string;
  readonly help: string;
  readonly fields: readonly FormField[];
}

/** The pages of a form, at least one; those without a field are left out. */
export function pagesOf(fields: readonly FormField[]): readonly FormPage[] {
  const pages: { heading: string; help: string; fields: FormField[] }[] = [];
  for (const field of fields) {
    if (field.type === 'page') pages.push({ heading: field.label, help: field.help, fields: [] });
    else if (pages.length === 0) pages.push({ heading: '', help: '', fields: [field] });
    else pages.at(-1)?.fields.push(field);
  }
  const filled = pages.filter((page) => page.fields.length > 0);
  return filled.length === 0 ? [{ heading: '', help: '', fields: [] }] : filled;
}
