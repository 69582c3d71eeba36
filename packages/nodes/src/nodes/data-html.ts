import { type Conversion, failure, type JsonObject, type JsonValue, success } from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import {
  baseUrlOf,
  baseUrlProperty,
  documentText,
  fieldsProperty,
  readFields,
  selectorProperty,
  timeoutProperty,
} from '../documents/config.ts';

const SHOP = `<html><body><h1>Teas</h1>
<ul class="teas">
  <li><a href="/teas/1">Sencha</a> <span class="price">12.50</span></li>
  <li><a href="/teas/2">Earl &amp; Grey</a> <span class="price">9.00</span></li>
</ul></body></html>`;

export const dataHtml = checkedNode({
  type: 'data.html',
  title: 'HTML',
  description:
    'Reads values from a page by CSS selectors, or turns it into plain text. Scripts in it never run and nothing is loaded. The output of Extract is {data} with one member for each field, that of Text is {text}.',
  icon: 'panel-top',
  kind: 'pure',
  properties: {
    operation: choice(
      'Operation',
      'Extract reads fields by selectors. Text makes plain text with a line for each paragraph.',
      { extract: 'Extract', text: 'Text' },
      { default: 'extract' },
    ),
    html: Type.Unsafe<JsonValue>({
      title: 'HTML',
      description: 'The page, or a part of one, usually a template such as {{nodes.fetch.output.body}}.',
      default: '',
      'x-filled': true,
    }),
    fields: fieldsProperty,
    selector: selectorProperty({ operation: ['text'] }),
    base_url: Type.Unsafe<string>({ ...baseUrlProperty, 'x-when': { operation: ['extract'] } }),
    timeout_ms: timeoutProperty,
  },
  required: ['operation', 'html'],
  form: {
    main: ['operation', 'html', 'fields', 'selector', 'base_url'],
    sections: [{ title: 'Limits', fields: ['timeout_ms'] }],
  },
  synonyms: [
    'scrape',
    'scraping',
    'css',
    'selector',
    'extract',
    'parse',
    'page',
    'website',
    'text',
    'cheerio',
  ],
  examples: [
    {
      title: 'Products of a shop',
      config: {
        operation: 'extract',
        html: '{{trigger.data.page}}',
        base_url: 'https://shop.example.com/',
        fields: [
          { name: 'heading', selector: 'h1' },
          {
            name: 'teas',
            selector: '.teas li',
            value: 'fields',
            all: true,
            fields: [
              { name: 'name', selector: 'a' },
              { name: 'url', selector: 'a', value: 'attribute', attribute: 'href' },
              { name: 'price', selector: '.price' },
            ],
          },
        ],
      },
      trigger: { page: SHOP },
      expect: {
        output: {
          data: {
            heading: 'Teas',
            teas: [
              { name: 'Sencha', url: 'https://shop.example.com/teas/1', price: '12.50' },
              { name: 'Earl & Grey', url: 'https://shop.example.com/teas/2', price: '9.00' },
            ],
          },
        },
      },
    },
    {
      title: 'Text of an article',
      config: { operation: 'text', html: '{{trigger.data.page}}', selector: 'article' },
      trigger: {
        page: '<nav>Home</nav><article><h2>News</h2><p>Tea &ndash; a <b>story</b>.</p><script>alert(1)</script></article>',
      },
      expect: { output: { text: 'News\nTea – a story.' } },
    },
    {
      title: "A selector that can't be read",
      config: { operation: 'extract', html: '<p>Tea</p>', fields: [{ name: 'tea', selector: 'p[' }] },
      expect: { failure: { code: 'invalid_config' } },
    },
  ],
  async run({ operation, html, fields, selector, base_url, timeout_ms: timeoutMs }, context) {
    const text = documentText(html, 'html');
    if (operation === 'text') {
      const conversion: Conversion = { kind: 'html_text', selector };
      const result = await context.documents.convert({ text, conversion, timeoutMs }, context.signal);
      return success({ text: result });
    }
    const read = readFields(fields);
    if (read.length === 0) return failure('invalid_config', message('nodes.no_fields'));
    const conversion: Conversion = { kind: 'html_fields', fields: read, baseUrl: baseUrlOf(base_url) };
    const data = await context.documents.convert({ text, conversion, timeoutMs }, context.signal);
    return success({ data: data as JsonObject });
  },
});
