import type { ConfigFault, FlowScope, JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { defaultsOf } from '@millrace/node-kit/defaults-of';
import { validatorOf } from '@millrace/node-kit/validator';
import { templatesIn } from '@millrace/node-kit/values';
import { type Static, Type } from 'typebox';
import { isOrigin, originFaults, originsSchema } from '../origins.ts';
import { isFieldName } from './field-names.ts';
import { completeFields, type FormField, fieldsSchema, pagesOf } from './fields.ts';
import { formOfSchema, type SchemaForm } from './from-schema.ts';

/** The settings of a hosted form, as the editor shows them. */
export const formProperties = {
  title: Type.String({
    title: 'Title',
    description: 'The heading of the form.',
    maxLength: 200,
    default: '',
    'x-filled': true,
  }),
  description: Type.String({
    title: 'Introduction',
    description: 'Shown below the heading.',
    maxLength: 5_000,
    default: '',
    'x-multiline': true,
  }),
  fields: fieldsSchema,
  button: Type.String({
    title: 'Button',
    description:
      'The text of the button that submits the form. Empty for "Submit", in the language of the reader.',
    maxLength: 100,
    default: '',
  }),
  thanks: Type.String({
    title: 'Text after submitting',
    description: 'Empty for a short thank-you, in the language of the reader.',
    maxLength: 5_000,
    default: '',
    'x-multiline': true,
  }),
  redirect_url: Type.String({
    title: 'Page after submitting',
    description:
      'An address that starts with https://, which is opened instead of the text. Empty for the text.',
    maxLength: 2_000,
    default: '',
    'x-placeholder': 'https://www.example.com/thank-you',
    'x-url': true,
  }),
  submissions_per_minute: Type.Integer({
    title: 'Submissions per minute',
    description: 'How often the form can be submitted from one address within a minute. 0 for any number.',
    minimum: 0,
    maximum: 10_000,
    default: 10,
  }),
  allowed_origins: originsSchema(
    'Websites that can show the form in a frame, such as https://www.example.com. Empty: none.',
  ),
};

/** The settings of a form with all defaults filled in. */
export type FormOptions = Omit<Static<ReturnType<typeof Type.Object<typeof formProperties>>>, 'fields'> & {
  /** Empty if it has none of its own and the input schema describes none. */
  readonly fields: readonly FormField[];
  /** Set if the fields are those of the workflow's input schema. */
  readonly ofSchema: SchemaForm | null;
};

const validator = validatorOf(Type.Object(formProperties, { additionalProperties: false }));

/**
 * A form trigger's config with defaults filled in; null when it can't be used.
 * @param inputSchema the workflow's, which gives the form its fields if it has none of its own
 */
export function readFormOptions(config: JsonObject, inputSchema: JsonObject | null): FormOptions | null {
  const options = complete(config);
  if (options === null || !options.allowed_origins.every(isOrigin)) return null;
  if (options.fields.length > 0) return { ...options, ofSchema: null };
  const described = formOfSchema(inputSchema);
  if (described.kind === 'none') return { ...options, ofSchema: null };
  return { ...options, fields: described.form.fields, ofSchema: described.form };
}

/** Null when it doesn't match the schema. */
function complete(config: JsonObject): Omit<FormOptions, 'ofSchema'> | null {
  const options: unknown = { ...defaultsOf(formProperties), ...config };
  if (!validator().Check(options)) return null;
  return { ...options, fields: completeFields(options.fields) };
}

/** Faults of a config that matches the schema. */
export function findFormFaults(
  config: JsonObject,
  { inputSchema }: FlowScope = { inputSchema: null },
): readonly ConfigFault[] {
  const templates = templatesIn(config, message('nodes.template_before_run'));
  if (templates.length > 0) return templates;
  const options = complete(config);
  if (options === null) return [];
  const { fields, redirect_url: url } = options;
  return [
    ...fields.flatMap((field, index) => fieldFaults(field, fields, index)),
    ...(fields.length === 0 ? faultsOfSchema(inputSchema) : []),
    ...(fields.length > 0 && fields.every(({ type }) => type === 'page')
      ? [{ pointer: '/fields', message: message('nodes.form_without_fields') }]
      : []),
    ...(url === '' || (URL.canParse(url) && url.startsWith('https://'))
      ? []
      : [{ pointer: '/redirect_url', message: message('nodes.not_https') }]),
    ...originFaults(options.allowed_origins),
  ];
}

/** Why the workflow's input schema gives the form no fields. */
function faultsOfSchema(inputSchema: JsonObject | null): ConfigFault[] {
  const described = formOfSchema(inputSchema);
  return described.kind === 'form'
    ? []
    : described.faults.map((fault) => ({ pointer: '/fields', message: fault }));
}

function fieldFaults(field: FormField, fields: readonly FormField[], index: number): ConfigFault[] {
  const { type, name, choices, label } = field;
  const at = `/fields/${index}`;
  if (type === 'page') return [];
  const faults: ConfigFault[] = [];
  if (!isFieldName(name)) faults.push({ pointer: `${at}/name`, message: message('nodes.form_field_name') });
  else if (fields.findIndex((each) => each.type !== 'page' && each.name === name) < index)
    faults.push({ pointer: `${at}/name`, message: message('nodes.form_field_twice', { name }) });
  if (label.trim() === '' && type !== 'hidden')
    faults.push({ pointer: `${at}/label`, message: message('nodes.form_field_label') });
  if ((type === 'choice' || type === 'choices') && choices.length === 0)
    faults.push({ pointer: `${at}/choices`, message: message('nodes.form_no_choices') });
  if (type === 'file' && pagesOf(fields).at(-1)?.fields.includes(field) !== true)
    faults.push({ pointer: `${at}/type`, message: message('nodes.form_file_not_last') });
  return faults;
}
