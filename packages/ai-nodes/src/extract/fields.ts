import {
  type ConfigFault,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { type Static, Type } from 'typebox';

const NAME_PATTERN = '^[A-Za-z_][A-Za-z0-9_]{0,63}$';
const MAX_FIELDS = 100;

const TYPES = ['string', 'number', 'integer', 'boolean', 'date', 'date_time'] as const;

export const fieldsProperty = Type.Array(
  Type.Object(
    {
      name: Type.String({
        title: 'Name',
        description: 'The name of the field in output.json: letters, digits and _, at most 64, unique.',
        pattern: NAME_PATTERN,
        default: 'field_1',
      }),
      type: Type.Enum([...TYPES], {
        type: 'string',
        title: 'Type',
        description: 'What the field holds. Dates are written as in ISO 8601.',
        default: 'string',
        'x-labels': {
          string: 'Text',
          number: 'Number',
          integer: 'Whole number',
          boolean: 'Yes or no',
          date: 'Date',
          date_time: 'Date and time',
        },
      }),
      description: Type.String({
        title: 'Description',
        description: 'What the field means and where it is found, for the model.',
        maxLength: 4_000,
        default: '',
        'x-multiline': true,
      }),
      required: Type.Optional(
        Type.Boolean({
          title: 'Required',
          description:
            'The model must find a value. Otherwise, a field that the text does not state is empty.',
          default: false,
        }),
      ),
      list: Type.Optional(
        Type.Boolean({
          title: 'List',
          description: 'A list of all values that the text states.',
          default: false,
        }),
      ),
      choices: Type.Optional(
        Type.Array(Type.String({ title: 'Choice', description: 'A value that is allowed.', default: '' }), {
          title: 'Choices',
          description: 'The only values allowed, for texts. Empty: any.',
          maxItems: 200,
          default: [],
        }),
      ),
    },
    { title: 'Field', additionalProperties: false },
  ),
  {
    title: 'Fields',
    description: 'What is read from the text.',
    maxItems: MAX_FIELDS,
    default: [],
    'x-filled': true,
    'x-when': { define: ['fields'] },
  },
);

export type Field = Static<typeof fieldsProperty>[number];

/** Names that are used twice. */
export function findFieldFaults({ fields = null }: JsonObject): readonly ConfigFault[] {
  if (!isJsonArray(fields)) return [];
  const names = fields.map((field) => (isJsonObject(field) ? (field.name ?? null) : null));
  return names.flatMap((name, index) =>
    typeof name === 'string' && names.indexOf(name) !== index
      ? [{ pointer: `/fields/${index}/name`, message: message('nodes.field_name_taken') }]
      : [],
  );
}

/**
 * The schema of the wanted fields. All are required in it, as providers enforce only such schemas; a field that may be absent may be null
 * instead.
 */
export function schemaOfFields(fields: readonly Field[]): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, schemaOfField(field)])),
    required: fields.map(({ name }) => name),
    additionalProperties: false,
  };
}

function schemaOfField({ type, description, required = false, list = false, choices = [] }: Field): object {
  const about = description.trim() === '' ? {} : { description: description.trim() };
  const one = valueSchema(type, choices);
  if (list) return { ...about, type: 'array', items: one };
  if (required) return { ...about, ...one };
  const values = 'enum' in one ? { enum: [...one.enum, null] } : {};
  return { ...about, ...one, ...values, type: [one.type, 'null'] };
}

function valueSchema(
  type: Field['type'],
  choices: readonly string[],
):
  | { readonly type: string; readonly format?: string }
  | { readonly type: string; readonly enum: readonly JsonValue[] } {
  switch (type) {
    case 'date':
      return { type: 'string', format: 'date' };
    case 'date_time':
      return { type: 'string', format: 'date-time' };
    case 'string':
      return choices.length === 0 ? { type } : { type, enum: [...new Set(choices)] };
    default:
      return { type };
  }
}
