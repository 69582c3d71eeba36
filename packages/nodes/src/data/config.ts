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

const choice = <Value extends string>(values: readonly Value[], title: string, description: string) =>
  Type.Unsafe<Value>({ type: 'string', enum: values, title, description, default: values[0] });

/** One kind of step: its name as a constant, and what it takes. */
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
  step('pick', 'Pick fields', 'Keeps the fields named, of each item or of the object; others are left out.', {
    fields: fieldPaths('Fields', 'Dotted paths such as id or address.city.', 1),
  }),
  step('omit', 'Omit fields', 'Leaves out the fields named.', {
    fields: fieldPaths('Fields', 'Dotted paths such as password or address.street.', 1),
  }),
  step('rename', 'Rename fields', 'Moves fields to other names.', {
    fields: Type.Array(
      Type.Object(
        {
          from: fieldPath('From', 'Dotted path of the field.', 'old_name', FILLED),
          to: fieldPath('To', 'Its new name; a dotted path puts it into an object.', 'new_name', FILLED),
        },
        closed,
      ),
      {
        title: 'Names',
        description: 'What is renamed; all at the same time, so two fields can change places.',
        minItems: 1,
        maxItems: MAX_NAMES,
        default: [{ from: 'old_name', to: 'new_name' }],
      },
    ),
  }),
  step('sort', 'Sort', 'Sorts a list; items that are equal keep their order.', {
    by: Type.Array(
      Type.Object(
        {
          field: Type.Optional(fieldPath('Field', 'Dotted path; empty for the item itself.')),
          direction: Type.Optional(
            choice(['asc', 'desc'], 'Direction', 'Ascending or descending. Null is last in both.'),
          ),
          as: Type.Optional(
            choice(
              ['auto', 'number', 'text'],
              'Compared as',
              'auto: numbers by value, then texts by their characters, then booleans. number: texts that are numbers count as such. text: numbers count as text.',
            ),
          ),
        },
        closed,
      ),
      {
        title: 'By',
        description: 'Fields to sort by, the most important one first.',
        minItems: 1,
        maxItems: 10,
        default: [{ field: 'id', direction: 'asc' }],
      },
    ),
  }),
  step('unique', 'Unique', 'Keeps one of the items that are equal.', {
    by: Type.Optional(fieldPaths('By', 'Fields that must be equal; none for the whole item.', 0)),
    keep: Type.Optional(choice(['first', 'last'], 'Keep', 'Which one of them is kept.')),
  }),
  step(
    'group',
    'Group',
    'Makes a list of groups {key, items, count}, in the order in which they first appear. key is an object of the values they share.',
    {
      by: fieldPaths(
        'By',
        'Dotted paths whose values make a group; in key each stands under its last name.',
        1,
      ),
    },
  ),
  step(
    'aggregate',
    'Aggregate',
    'Counts, adds up and compares: one object of results, or one for each group.',
    {
      by: Type.Optional(
        fieldPaths(
          'By',
          'Dotted paths whose values make a group and stand beside its results; none for one result over all.',
          0,
        ),
      ),
      values: Type.Array(
        Type.Object(
          {
            function: choice(
              ['count', 'sum', 'average', 'min', 'max', 'first', 'last', 'list'],
              'Function',
              'count: all items, or with a field those that have it. The others leave out items whose field is null. Sums and averages are exact decimals, averages to 15 digits when they do not end.',
            ),
            field: Type.Optional(fieldPath('Field', 'Dotted path; empty for the item itself.')),
            name: Type.Optional(
              fieldPath('Name', 'What the result is called; empty for function_field, such as sum_price.'),
            ),
          },
          closed,
        ),
        {
          title: 'Results',
          description: 'What is worked out.',
          minItems: 1,
          maxItems: MAX_NAMES,
          default: [{ function: 'count' }],
        },
      ),
    },
  ),
  step('join', 'Join', 'Joins the items of this list and another one whose fields are equal.', {
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
          'Fields that must all be equal. A text that is a number equals that number; null equals nothing.',
        minItems: 1,
        maxItems: 10,
        default: [{ left: 'id', right: 'id' }],
      },
    ),
    type: Type.Optional(
      choice(
        ['inner', 'left', 'right', 'full'],
        'Type',
        'inner: items with a partner. left, right: all of that list as well. full: all of both.',
      ),
    ),
    as: Type.Optional(
      fieldPath(
        'As',
        'Member that takes the right item (null without a partner); empty to add its members to the left item, whose own win.',
      ),
    ),
  }),
  step('chunk', 'Split a list', 'Makes lists of a number of items each.', {
    size: Type.Integer({
      title: 'Size',
      description: 'Items in each list; the last one has what is left.',
      minimum: 1,
      maximum: 1_000_000,
      default: 100,
    }),
  }),
  step('split', 'Split a text', 'Makes a list of a text.', {
    field: Type.Optional(
      fieldPath('Field', 'Dotted path of the text; empty when the data itself is the text.'),
    ),
    separator: Type.Optional(
      fieldPath('Separator', 'Text between the parts; empty for single characters.', ','),
    ),
    trim: Type.Optional(
      Type.Boolean({ title: 'Trim', description: 'White space around parts is taken away.', default: true }),
    ),
    skip_empty: Type.Optional(
      Type.Boolean({ title: 'Skip empty', description: 'Empty parts are left out.', default: true }),
    ),
  }),
  step(
    'flatten',
    'Flatten',
    'Puts lists within the list into it, or makes an item of each item of a field.',
    {
      field: Type.Optional(
        fieldPath(
          'Field',
          'Dotted path of a list: each item is repeated for each entry, which then stands in the field. Empty to flatten lists of lists.',
        ),
      ),
      levels: Type.Optional(
        Type.Integer({
          title: 'Levels',
          description: 'How deep lists of lists are flattened.',
          minimum: 1,
          maximum: 100,
          default: 1,
        }),
      ),
    },
  ),
  step('limit', 'Limit', 'Keeps a part of a list.', {
    count: Type.Integer({
      title: 'Count',
      description: 'Items kept.',
      minimum: 0,
      maximum: 1_000_000,
      default: 10,
    }),
    skip: Type.Optional(
      Type.Integer({
        title: 'Skip',
        description: 'Items left out before.',
        minimum: 0,
        maximum: 1_000_000,
        default: 0,
      }),
    ),
  }),
  step('format_date', 'Format a date', 'Writes a moment as text. Null stays null.', {
    field: Type.Optional(fieldPath('Field', 'Dotted path; empty for the item itself.')),
    to: Type.Optional(fieldPath('To', 'Where the text goes; empty for the same field.')),
    format: Type.Optional(
      fieldPath('Format', 'As the template filter date takes it, such as d MMMM yyyy, HH:mm.', 'yyyy-MM-dd'),
    ),
    zone: Type.Optional(
      fieldPath(
        'Time zone',
        "IANA time zone such as Asia/Tokyo, or an offset; the workflow's own zone (UTC without one) when not set.",
      ),
    ),
  }),
  step(
    'format_number',
    'Format a number',
    'Writes a number as text, rounded half away from zero. Null stays null.',
    {
      field: Type.Optional(fieldPath('Field', 'Dotted path; empty for the item itself.')),
      to: Type.Optional(fieldPath('To', 'Where the text goes; empty for the same field.')),
      decimals: Type.Optional(
        Type.Integer({
          title: 'Decimals',
          description: 'Digits behind the point.',
          minimum: 0,
          maximum: 20,
          default: 2,
        }),
      ),
      decimal_separator: Type.Optional(fieldPath('Decimal separator', 'Before the decimals.', '.')),
      thousands_separator: Type.Optional(
        fieldPath('Thousands separator', 'Between groups of three digits; may be empty.', ','),
      ),
      prefix: Type.Optional(
        fieldPath('Prefix', 'Before the digits, such as a currency sign; a minus stands before it.'),
      ),
      suffix: Type.Optional(fieldPath('Suffix', 'After the digits.')),
    },
  ),
] as const;

const stepSchema = Type.Union([...STEPS]);

export type Step = Static<(typeof STEPS)[number]>;
export type StepOf<Name extends Step['operation']> = Extract<Step, { operation: Name }>;

/** The settings of core.data, as an editor shows them. */
export const dataProperties = {
  data: Type.Unsafe<JsonValue>({
    title: 'Data',
    description: 'The list, object or text to work on, usually a template such as {{trigger.data.items}}.',
    default: [],
    'x-filled': true,
  }),
  steps: Type.Array(stepSchema, {
    title: 'Steps',
    description:
      'What is done, one after the other: pick, omit, rename, sort, unique, group, aggregate, join, chunk (a list into lists), split (a text into a list), flatten, limit, format_date, format_number.',
    minItems: 1,
    maxItems: 50,
    default: [{ operation: 'pick', fields: ['id'] }],
  }),
};
