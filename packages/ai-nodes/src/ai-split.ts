import { failure, type JsonObject, type JsonValue, success, textOrJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import { splitText } from './split/split-text.ts';

const MAX_CHARACTERS = 2_000_000;
const MAX_PARTS = 10_000;
const HTML_TIMEOUT_MS = 30_000;

export const aiSplit = checkedNode({
  type: 'ai.split',
  title: 'Split a text',
  description:
    'Divides a long text into parts that a model can read or a vector can stand for: at paragraphs, lines, sentences or words, with an overlap. Markdown and HTML are divided at headings first. The parts can be stored by Vector store as they are.',
  icon: 'scissors',
  kind: 'pure',
  properties: {
    text: Type.Unsafe<JsonValue>({
      title: 'Text',
      description:
        'What is divided, of at most 2,000,000 characters. Values that are not texts are written as JSON.',
      default: '',
      'x-filled': true,
      'x-multiline': true,
    }),
    format: choice(
      'Format',
      'HTML becomes Markdown. Parts of both know the headings that they stand under.',
      { text: 'Plain text', markdown: 'Markdown', html: 'HTML' },
      { default: 'text' },
    ),
    size: Type.Integer({
      title: 'Maximum size',
      description: 'Of one part. Smaller ones are found more exactly, larger ones say more.',
      minimum: 20,
      maximum: 100_000,
      default: 1_000,
    }),
    overlap: Type.Integer({
      title: 'Overlap',
      description:
        'How much of the end of a part the next one repeats, so that a thought is whole in one of them. At most half the size.',
      minimum: 0,
      maximum: 50_000,
      default: 100,
    }),
    unit: choice(
      'Measured in',
      'Tokens are estimated: four Latin letters, two of other alphabets, or one Chinese or Japanese character count as one.',
      { characters: 'Characters', tokens: 'Tokens' },
      { default: 'characters' },
    ),
    key: Type.String({
      title: 'Key',
      description: 'Parts get this as their key, with a slash and their number. Empty: no keys.',
      maxLength: 200,
      default: '',
    }),
    metadata: Type.Unsafe<JsonObject>({
      type: 'object',
      title: 'Metadata',
      description: 'Every part gets this, and its headings.',
      default: {},
      'x-code': 'json',
    }),
  },
  required: ['text'],
  form: {
    main: ['text', 'format', 'size', 'overlap', 'unit'],
    sections: [{ title: 'Keys and metadata', fields: ['key', 'metadata'] }],
  },
  synonyms: ['chunk', 'chunks', 'text splitter', 'divide', 'rag', 'document', 'overlap'],
  examples: [
    {
      title: 'A page of a manual',
      config: {
        text: '{{trigger.data.page}}',
        format: 'markdown',
        size: 40,
        overlap: 0,
        key: 'a17',
        metadata: { product: 'A-17' },
      },
      trigger: {
        page: '# Care\nGrease it twice a year.\n\nKeep it dry.\n## Belt\nIt lasts for 5,000 hours.',
      },
      expect: {
        output: {
          count: 3,
          chunks: [
            {
              key: 'a17/0',
              text: '# Care\nGrease it twice a year.',
              metadata: { product: 'A-17', headings: ['Care'] },
            },
            { key: 'a17/1', text: 'Keep it dry.', metadata: { product: 'A-17', headings: ['Care'] } },
            {
              key: 'a17/2',
              text: '## Belt\nIt lasts for 5,000 hours.',
              metadata: { product: 'A-17', headings: ['Care', 'Belt'] },
            },
          ],
        },
      },
    },
  ],
  async run({ text: given, format, size, overlap, unit, key, metadata }, context) {
    if (overlap > size / 2) return failure('invalid_config', message('nodes.overlap_too_large'));
    const own = textOrJson(given);
    if (own.length > MAX_CHARACTERS) {
      return failure('invalid_config', message('nodes.text_too_long', { max: MAX_CHARACTERS }));
    }
    const text = format === 'html' ? await markdownOf(own) : own;
    const options = { size, overlap, unit, isMarkdown: format !== 'text' };
    const parts = await context.inTurns((meter) => splitText(text, options, meter));
    if (parts.length > MAX_PARTS) {
      return failure(
        'invalid_data',
        message('nodes.too_many_parts', { count: parts.length, max: MAX_PARTS }),
      );
    }
    const chunks = parts.map(({ text: part, headings }, index) => ({
      ...(key === '' ? {} : { key: `${key}/${index}` }),
      text: part,
      metadata: { ...metadata, ...(headings.length === 0 ? {} : { headings: [...headings] }) },
    }));
    return success({ chunks, count: chunks.length });

    async function markdownOf(html: string): Promise<string> {
      const conversion = { kind: 'html_to_markdown', selector: '', baseUrl: null } as const;
      const document = { text: html, conversion, timeoutMs: HTML_TIMEOUT_MS };
      return textOrJson(await context.documents.convert(document, context.signal));
    }
  },
});
