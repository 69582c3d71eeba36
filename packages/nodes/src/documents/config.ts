import type { HtmlField, JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { typeName } from '@millrace/node-kit/values';
import { Type } from 'typebox';

const MAX_TIMEOUT_MS = 60_000;

/** How long a conversion may take. */
export const timeoutProperty = Type.Integer({
  title: 'Time limit',
  description: 'In milliseconds. A conversion that takes longer is stopped with document_timeout.',
  minimum: 1,
  maximum: MAX_TIMEOUT_MS,
  default: 10_000,
});

/** The address of a page, which completes those in it. */
export const baseUrlProperty = Type.String({
  title: 'Base URL',
  description:
    'The address of the page. Links and images that are relative to it become complete. Empty: they stay as they are.',
  default: '',
  'x-placeholder': 'https://www.example.com/news',
});

/** The part of a page that is converted. */
export const selectorProperty = (when: { readonly [name: string]: readonly string[] }) =>
  Type.String({
    title: 'Part of the page',
    description:
      'A CSS selector such as main or article.post; the first match is used. Empty: the whole page.',
    default: '',
    maxLength: 1_000,
    'x-placeholder': 'article',
    'x-when': when,
  });

/** @throws NodeProblem when it isn't an absolute URL */
export function baseUrlOf(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const url = URL.parse(trimmed);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new NodeProblem(message('nodes.wrong_base_url', { url: trimmed }));
  }
  return url.href;
}

/**
 * The text of a document. What a template found may be anything, so it is checked when the node runs.
 * @throws NodeProblem invalid_data
 */
export function documentText(value: JsonValue, setting: string): string {
  if (typeof value === 'string') return value;
  throw new NodeProblem(
    message('nodes.document_not_text', { setting, given: typeName(value) }),
    'invalid_data',
  );
}

const MAX_FIELDS = 100;
/** Lists of objects within lists of objects. */
const NESTING = 2;

const VALUES = ['text', 'html', 'attribute', 'fields'] as const;

/** A field of a page, in which further fields may be nested. */
const fieldSchema = (levels: number): ReturnType<typeof Type.Object> =>
  Type.Object(
    {
      name: Type.String({
        title: 'Name',
        description: 'The name of the field in the result.',
        minLength: 1,
        maxLength: 200,
        default: 'title',
        'x-filled': true,
      }),
      selector: Type.Optional(
        Type.String({
          title: 'CSS selector',
          description:
            'For example h1, .price or a.next[href]. In nested fields, it searches within the match. Empty: the match itself.',
          maxLength: 1_000,
          default: '',
          'x-placeholder': '.price',
        }),
      ),
      value: Type.Optional(
        Type.Unsafe<(typeof VALUES)[number]>({
          type: 'string',
          enum: levels > 0 ? VALUES : VALUES.slice(0, -1),
          title: 'Value',
          description:
            'What is read: the visible text, the HTML inside, an attribute, or an object of further fields.',
          default: 'text',
          'x-labels': { text: 'Text', html: 'HTML', attribute: 'Attribute', fields: 'Fields' },
        }),
      ),
      attribute: Type.Optional(
        Type.String({
          title: 'Attribute',
          description: 'The name of the attribute, such as href or src.',
          maxLength: 200,
          default: '',
          'x-filled': true,
          'x-when': { value: ['attribute'] },
        }),
      ),
      all: Type.Optional(
        Type.Boolean({
          title: 'All matches',
          description: 'A list of all matches. Otherwise the first one, or nothing if there is none.',
          default: false,
        }),
      ),
      ...(levels > 0
        ? {
            fields: Type.Optional(
              Type.Array(fieldSchema(levels - 1), {
                title: 'Fields',
                description: 'What is read within each match.',
                maxItems: MAX_FIELDS,
                default: [],
                'x-when': { value: ['fields'] },
              }),
            ),
          }
        : {}),
    },
    { additionalProperties: false },
  );

/** A field as the author writes it. */
type GivenField = Pick<HtmlField, 'name'> &
  Partial<Omit<HtmlField, 'name' | 'fields'>> & { readonly fields?: readonly GivenField[] };

/** The fields that are read from a page. */
export const fieldsProperty = Type.Unsafe<readonly GivenField[]>(
  Type.Array(fieldSchema(NESTING), {
    title: 'Fields',
    description: 'What is read from the page.',
    maxItems: MAX_FIELDS,
    default: [{ name: 'title', selector: 'h1' }],
    'x-when': { operation: ['extract'] },
  }),
);

/**
 * The fields of a valid config with their defaults.
 * @throws NodeProblem when two share a name, or one lacks an attribute
 */
export function readFields(given: readonly GivenField[], path = 'fields'): HtmlField[] {
  const names = new Set<string>();
  return given.map((field, index) => {
    const { name, selector = '', value = 'text', attribute = '', all = false, fields = [] } = field;
    const at = `${path}.${index}`;
    if (value === 'attribute' && attribute === '') {
      throw new NodeProblem(message('nodes.no_attribute', { path: `config.${at}.attribute` }));
    }
    if (names.has(name)) throw new NodeProblem(message('nodes.field_twice', { path: `config.${at}`, name }));
    names.add(name);
    const inner = value === 'fields' ? readFields(fields, `${at}.fields`) : [];
    return { name, selector, value, attribute, all, fields: inner };
  });
}
