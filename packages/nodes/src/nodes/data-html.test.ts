import { failure, type JsonObject, success } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { dataHtml } from './data-html.ts';

const run = async (config: JsonObject) => (await runNode(dataHtml, { config })).result;
const extract = (html: string, fields: readonly JsonObject[], more: JsonObject = {}) =>
  run({ operation: 'extract', html, fields, ...more });

describe('extract', () => {
  it('reads text, HTML and attributes of the first match, and null where there is none', async () => {
    const html = '<p class="x" data-id="7">One <b>two</b></p><p class="x">three</p>';
    const fields = [
      { name: 'text', selector: '.x' },
      { name: 'html', selector: '.x', value: 'html' },
      { name: 'id', selector: '.x', value: 'attribute', attribute: 'Data-ID' },
      { name: 'none', selector: '.y' },
      { name: 'no_attribute', selector: '.x', value: 'attribute', attribute: 'title' },
      { name: '__proto__', selector: 'b' },
    ];
    const result = await extract(html, fields);
    expect(JSON.stringify('output' in result ? result.output : null)).toBe(
      '{"data":{"text":"One two","html":"One <b>two</b>","id":"7","none":null,"no_attribute":null,"__proto__":"two"}}',
    );
  });

  it('reads lists, and lists of objects within objects', async () => {
    const html =
      '<section><h2>A</h2><ul><li>1<li>2</ul></section><section><h2>B</h2><ul></ul></section><section>C</section>';
    const fields = [
      { name: 'titles', selector: 'h2', all: true },
      {
        name: 'sections',
        selector: 'section',
        value: 'fields',
        all: true,
        fields: [
          { name: 'title', selector: '> h2' },
          { name: 'items', selector: 'li', value: 'fields', all: true, fields: [{ name: 'number' }] },
        ],
      },
    ];
    expect(await extract(html, fields)).toEqual(
      success({
        data: {
          titles: ['A', 'B'],
          sections: [
            { title: 'A', items: [{ number: '1' }, { number: '2' }] },
            { title: 'B', items: [] },
            { title: null, items: [] },
          ],
        },
      }),
    );
  });

  it('completes addresses with that of the page, and leaves other attributes alone', async () => {
    const html =
      '<a href="../b?c=1#d" title="../b">x</a><img src="//cdn.example.com/i.png"><a href="mailto:a@b.example">';
    const fields = [
      { name: 'links', selector: 'a', value: 'attribute', attribute: 'href', all: true },
      { name: 'title', selector: 'a', value: 'attribute', attribute: 'title' },
      { name: 'image', selector: 'img', value: 'attribute', attribute: 'src' },
    ];
    expect(await extract(html, fields, { base_url: 'https://www.example.com/a/x/' })).toEqual(
      success({
        data: {
          links: ['https://www.example.com/a/b?c=1#d', 'mailto:a@b.example'],
          title: '../b',
          image: 'https://cdn.example.com/i.png',
        },
      }),
    );
  });

  it.each([
    [[{ name: 'a', selector: 'p >> b' }], 'config.fields.0.selector'],
    [
      [{ name: 'a', value: 'fields', fields: [{ name: 'b', selector: ':nope' }] }],
      'config.fields.0.fields.0.selector',
    ],
    [[{ name: 'a', value: 'attribute' }], 'config.fields.0.attribute'],
    [[{ name: 'a' }, { name: 'a' }], 'config.fields.1'],
    [[], 'config.fields'],
  ])('says which field is wrong: %j', async (fields, path) => {
    expect(await extract('<p>', fields)).toMatchObject({
      kind: 'failure',
      code: 'invalid_config',
      message: saying(path),
    });
  });

  it('needs text, and an absolute address of the page', async () => {
    expect(await run({ operation: 'extract', html: null })).toMatchObject({ code: 'invalid_data' });
    expect(await extract('', [{ name: 'a' }], { base_url: '/news' })).toMatchObject({
      code: 'invalid_config',
      message: saying('/news'),
    });
  });
});

describe('text', () => {
  it('has a line for each block, without what is not shown', async () => {
    const html = `<html><head><title>t</title><style>p{}</style></head><body>
      <h1>Tea  &amp; cake</h1><p>One<br>two   three</p><div><div>four</div></div>
      <pre>  a\n   b</pre><table><tr><td>x</td><td>y</td></tr></table><noscript>n</noscript><!-- c --></body></html>`;
    expect(await run({ operation: 'text', html })).toEqual(
      success({ text: 'Tea & cake\nOne\ntwo three\nfour\n  a\n   b\nx y' }),
    );
  });

  it('is null without a match', async () => {
    expect(await run({ operation: 'text', html: '<p>', selector: 'main' })).toEqual(success({ text: null }));
  });
});

it('passes the time limit on', async () => {
  const orders: unknown[] = [];
  const documents = {
    convert: async (order: { timeoutMs: number }) => {
      orders.push(order.timeoutMs);
      return {};
    },
  };
  const config = { operation: 'text', html: '', timeout_ms: 77 };
  await runNode(dataHtml, { config, services: { documents } });
  expect(orders).toEqual([77]);
  expect((await runNode(dataHtml, { config: { ...config, timeout_ms: 0 } })).result).toMatchObject(
    failure('invalid_config', expect.anything() as never),
  );
});
