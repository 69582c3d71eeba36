import type { JsonValue } from '@millrace/engine';
import { type Static, type TProperties, Type } from 'typebox';

const MAX_NAMES = 100;

const fieldPath = (
  title: string,
  description: string,
  value = '',
  marks: { readonly 'x-filled'?: true } = {},
) => Type.String({ title, description, maxLength: 1_000, default: value, ...marks });
const FILLED = { 'x-filled': true } as const;

const fieldPaths = (title: string, description: string, minItems: number) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
    title,
    description,
    minItems,
    maxItems: MAX_NAMES,
    default: minItems === 0 ? [] : ['id'],
  });

/** @param labels of the values, the usual one first */
const choice = <Value extends string>(
  labels: { readonly [V in Value]: string },
  title: string,
  description: string,
) => {
  const values = Object.keys(labels) as Value[];
  return Type.Unsafe<Value>({
    type: 'string',
    enum: values,
    title,
    description,
    default: values[0],
    'x-labels': labels,
  });
};

/** One kind of step: its name as a constant, and its settings. */
const step = <Name extends string, Properties extends TProperties>(
  name: Name,
  title: string,
  description: string,
  properties: Properties,
) =>
  Type.Object(
    { operation: Type.Literal(name, { title: 'Operation', description, default: name }), ...properties },
    { title, description, additionalProperties: false },
  );

const closed = { additionalProperties: false };

const STEPS = [
  step('pick', 'Pick fields', 'Keeps only the named fields of each item or of the object.', {
    fields: fieldPaths('Fields', 'Dotted paths such as id or address.city.', 1),
  }),
  step('omit', 'Omit fields', 'Removes the named fields.', {
    fields: fieldPaths('Fields', 'Dotted paths such as password or address.street.', 1),
  }),
  step('rename', 'Rename fields', 'Renames fields.', {
    fields: Type.Array(
      Type.Object(
        {
          from: fieldPath('From', 'Dotted path of the field.', 'old_name', FILLED),
          to: fieldPath('To', 'The new name. A dotted path puts it into an object.', 'new_name', FILLED),
        },
        closed,
      ),
      {
        title: 'Names',
        description: 'The fields to rename. All at the same time, so two fields can swap names.',
        minItems: 1,
        maxItems: MAX_NAMES,
        default: [{ from: 'old_name', to: 'new_name' }],
      },
    ),
  }),
  step('sort', 'Sort', 'Sorts a list. Equal items keep their order.', {
    by: Type.Array(
      Type.Object(
        {
          field: Type.Optional(fieldPath('Field', 'Dotted path. Empty: the item itself.')),
          direction: Type.Optional(
            choice(
              { asc: 'Ascending', desc: 'Descending' },
              'Direction',
              'Ascending or descending. Missing values always come last.',
            ),
          ),
          as: Type.Optional(
            choice(
              { auto: 'Automatic', number: 'Number', text: 'Text' },
              'Compare as',
              'Automatic: numbers by value, then text by its characters, then booleans. Number: text that contains a number counts as a number. Text: numbers count as text.',
            ),
          ),
        },
        closed,
      ),
      {
        title: 'By',
        description: 'Fields to sort by, most important first.',
        minItems: 1,
        maxItems: 10,
        default: [{ field: 'id', direction: 'asc' }],
      },
    ),
  }),
  step('unique', 'Unique', 'Keeps one of each set of equal items.', {
    by: Type.Optional(fieldPaths('By', 'Fields that must be equal. None: the whole item.', 0)),
    keep: Type.Optional(choice({ first: 'First', last: 'Last' }, 'Keep', 'Which one to keep.')),
  }),
  step(
    'group',
    'Group',
    'Creates a list of groups {key, items, count}, in the order in which they first appear. key is an object with the shared values.',
    {
      by: fieldPaths(
        'By',
        'Dotted paths to group by. In key, each is named by the last part of its path.',
        1,
      ),
    },
  ),
  step(
    'aggregate',
    'Aggregate',
    'Calculates counts, sums and more: one object with the results, or one per group.',
    {
      by: Type.Optional(
        fieldPaths(
          'By',
          'Dotted paths to group by. Their values appear beside the results. None: one result for all items.',
          0,
        ),
      ),
      values: Type.Array(
        Type.Object(
          {
            function: choice(
              {
                count: 'Count',
                sum: 'Sum',
                average: 'Average',
                min: 'Minimum',
                max: 'Maximum',
                first: 'First',
                last: 'Last',
                list: 'List',
              },
              'Function',
              "Count: all items or, with a field, those that have it. The other functions ignore items without the field. Sums and averages are exact decimals; averages that don't end have 15 digits.",
            ),
            field: Type.Optional(fieldPath('Field', 'Dotted path. Empty: the item itself.')),
            name: Type.Optional(
              fieldPath('Name', 'The name of the result. Empty: function_field, such as sum_price.'),
            ),
          },
          closed,
        ),
        {
          title: 'Results',
          description: 'What to calculate.',
          minItems: 1,
          maxItems: MAX_NAMES,
          default: [{ function: 'count' }],
        },
      ),
    },
  ),
  step('join', 'Join', 'Joins items of this list and another list whose fields are equal.', {
    with: Type.Unsafe<JsonValue>({
      title: 'With',
      description: 'The other (right) list, usually a template.',
      default: [],
      'x-filled': true,
    }),
    on: Type.Array(
      Type.Object(
        {
          left: fieldPath('Left field', 'Dotted path in this list.', 'id'),
          right: fieldPath('Right field', 'Dotted path in the other list.', 'id'),
        },
        closed,
      ),
      {
        title: 'On',
        description:
          'Fields that must all be equal. Text that contains a number equals that number; a missing value equals nothing.',
        minItems: 1,
        maxItems: 10,
        default: [{ left: 'id', right: 'id' }],
      },
    ),
    type: Type.Optional(
      choice(
        {
          inner: 'Matches',
          left: 'Matches and the rest of the left list',
          right: 'Matches and the rest of the right list',
          full: 'All of both lists',
        },
        'Type',
        'Only items with a match, or also all others of the left list, the right one or both.',
      ),
    ),
    as: Type.Optional(
      fieldPath(
        'As',
        'Field for the right item (empty without a match). Empty: its fields are added to the left item, whose own fields win.',
      ),
    ),
  }),
  step('chunk', 'Split a list', 'Splits a list into lists of a fixed size.', {
    size: Type.Integer({
      title: 'Size',
      description: 'Items per list. The last one has the rest.',
      minimum: 1,
      maximum: 1_000_000,
      default: 100,
    }),
  }),
  step('split', 'Split text', 'Splits text into a list.', {
    field: Type.Optional(
      fieldPath('Field', 'Dotted path of the text. Empty if the data itself is the text.'),
    ),
    separator: Type.Optional(
      fieldPath('Separator', 'The text between the parts. Empty: split into single characters.', ','),
    ),
    trim: Type.Optional(
      Type.Boolean({ title: 'Trim', description: 'Removes white space around each part.', default: true }),
    ),
    skip_empty: Type.Optional(
      Type.Boolean({ title: 'Skip empty', description: 'Leaves out empty parts.', default: true }),
    ),
  }),
  step('flatten', 'Flatten', 'Flattens nested lists, or creates an item for each entry of a field.', {
    field: Type.Optional(
      fieldPath(
        'Field',
        'Dotted path of a list: each item is repeated for each entry, which replaces the list. Empty: flatten nested lists.',
      ),
    ),
    levels: Type.Optional(
      Type.Integer({
        title: 'Levels',
        description: 'How many levels of nested lists to flatten.',
        minimum: 1,
        maximum: 100,
        default: 1,
      }),
    ),
  }),
  step('limit', 'Limit', 'Keeps part of a list.', {
    count: Type.Integer({
      title: 'Count',
      description: 'Items to keep.',
      minimum: 0,
      maximum: 1_000_000,
      default: 10,
    }),
    skip: Type.Optional(
      Type.Integer({
        title: 'Skip',
        description: 'Items to skip at the start.',
        minimum: 0,
        maximum: 1_000_000,
        default: 0,
      }),
    ),
  }),
  step('format_date', 'Format a date', 'Formats a date and time as text. A missing value stays missing.', {
    field: Type.Optional(fieldPath('Field', 'Dotted path. Empty: the item itself.')),
    to: Type.Optional(fieldPath('To', 'The field for the text. Empty: the same field.')),
    format: Type.Optional(
      fieldPath('Format', 'As in the template filter date, for example d MMMM yyyy, HH:mm.', 'yyyy-MM-dd'),
    ),
    zone: Type.Optional(
      fieldPath(
        'Time zone',
        "IANA time zone such as Asia/Tokyo, or an offset. Not set: the workflow's time zone, or UTC if it has none.",
      ),
    ),
  }),
  step(
    'format_number',
    'Format a number',
    'Formats a number as text, rounding half away from zero. A missing value stays missing.',
    {
      field: Type.Optional(fieldPath('Field', 'Dotted path. Empty: the item itself.')),
      to: Type.Optional(fieldPath('To', 'The field for the text. Empty: the same field.')),
      decimals: Type.Optional(
        Type.Integer({
          title: 'Decimals',
          description: 'Digits after the decimal point.',
          minimum: 0,
          maximum: 20,
          default: 2,
        }),
      ),
      decimal_separator: Type.Optional(
        fieldPath('Decimal separator', 'The character before the decimals.', '.'),
      ),
      thousands_separator: Type.Optional(
        fieldPath('Thousands separator', 'The character between groups of three digits. May be empty.', ','),
      ),
      prefix: Type.Optional(
        fieldPath(
          'Prefix',
          'The text before the digits, such as a currency sign. A minus sign comes before it.',
        ),
      ),
      suffix: Type.Optional(fieldPath('Suffix', 'The text after the digits.')),
    },
  ),
] as const;

const stepSchema = Type.Union([...STEPS]);

export type Step = Static<(typeof STEPS)[number]>;
export type StepOf<Name extends Step['operation']> = Extract<Step, { operation: Name }>;

/** The settings of core.data, as the editor shows them. */
export const dataProperties = {
  data: Type.Unsafe<JsonValue>({
    title: 'Data',
    description: 'The list, object or text to transform, usually a template such as {{trigger.data.items}}.',
    default: [],
    'x-filled': true,
  }),
  steps: Type.Array(stepSchema, {
    title: 'Steps',
    description:
      'The steps, in order: pick, omit, rename, sort, unique, group, aggregate, join, chunk (a list into lists), split (text into a list), flatten, limit, format_date, format_number.',
    minItems: 1,
    maxItems: 50,
    default: [{ operation: 'pick', fields: ['id'] }],
  }),
};
