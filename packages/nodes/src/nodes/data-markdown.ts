import { type Conversion, type JsonValue, success } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import {
  baseUrlOf,
  baseUrlProperty,
  documentText,
  selectorProperty,
  timeoutProperty,
} from '../documents/config.ts';

const WHEN_TO_HTML = { operation: ['to_html'] };
const WHEN_FROM_HTML = { operation: ['from_html'] };

export const dataMarkdown = checkedNode({
  type: 'data.markdown',
  title: 'Markdown',
  description:
    'Turns Markdown into HTML, for mails and pages, or HTML into Markdown, for chats and models. Markdown is CommonMark with tables and strikethrough. HTML and scripts in Markdown become harmless text unless you allow them. The output is {html} or {markdown}.',
  icon: 'file-type',
  kind: 'pure',
  properties: {
    operation: choice(
      'Operation',
      'The direction of the conversion.',
      { to_html: 'Markdown to HTML', from_html: 'HTML to Markdown' },
      { default: 'to_html' },
    ),
    text: Type.Unsafe<JsonValue>({
      title: 'Text',
      description: 'The Markdown or HTML to convert, usually a template such as {{nodes.write.output.text}}.',
      default: '',
      'x-filled': true,
    }),
    raw_html: Type.Boolean({
      title: 'Allow HTML',
      description:
        'Passes HTML in the Markdown on, and links of any kind. Only for text that you trust: what others wrote could run scripts where the result is shown.',
      default: false,
      'x-when': WHEN_TO_HTML,
    }),
    line_breaks: Type.Boolean({
      title: 'Keep line breaks',
      description: 'Each line break in a paragraph becomes one in the HTML, as in chats.',
      default: false,
      'x-when': WHEN_TO_HTML,
    }),
    selector: selectorProperty(WHEN_FROM_HTML),
    base_url: Type.Unsafe<string>({ ...baseUrlProperty, 'x-when': WHEN_FROM_HTML }),
    timeout_ms: timeoutProperty,
  },
  required: ['operation', 'text'],
  form: {
    main: ['operation', 'text', 'raw_html', 'line_breaks', 'selector', 'base_url'],
    sections: [{ title: 'Limits', fields: ['timeout_ms'] }],
  },
  synonyms: [
    'md',
    'html',
    'commonmark',
    'convert',
    'format',
    'rich text',
    'newsletter',
    'turndown',
    'showdown',
  ],
  examples: [
    {
      title: 'An e-mail from Markdown',
      config: {
        operation: 'to_html',
        text: '# Order {{trigger.data.id}}\n\nThank you, **{{trigger.data.name}}**!',
      },
      trigger: { id: 17, name: 'Ada <script>' },
      expect: {
        output: { html: '<h1>Order 17</h1>\n<p>Thank you, <strong>Ada &lt;script&gt;</strong>!</p>\n' },
      },
    },
    {
      title: 'An article for a model',
      config: {
        operation: 'from_html',
        text: '{{trigger.data.page}}',
        selector: 'article',
        base_url: 'https://www.example.com/',
      },
      trigger: {
        page: '<nav>Home</nav><article><h2>Tea</h2><p>Read <a href="/more">more</a>.</p><ul><li>one<li><b>two</b></ul></article>',
      },
      expect: {
        output: { markdown: '## Tea\n\nRead [more](https://www.example.com/more).\n\n- one\n- **two**' },
      },
    },
  ],
  async run(config, context) {
    const { operation, selector, timeout_ms: timeoutMs } = config;
    const text = documentText(config.text, 'text');
    const isToHtml = operation === 'to_html';
    const conversion: Conversion = isToHtml
      ? { kind: 'markdown_to_html', rawHtml: config.raw_html, lineBreaks: config.line_breaks }
      : { kind: 'html_to_markdown', selector, baseUrl: baseUrlOf(config.base_url) };
    const result = await context.documents.convert({ text, conversion, timeoutMs }, context.signal);
    return success(isToHtml ? { html: result } : { markdown: result });
  },
});
