import type { JsonObject } from '@millrace/engine';
import type { ImportResult } from '@millrace/importer';
import { describe, expect, it } from 'vitest';
import { flowOf, n8n, outcomeOf, read, type Sketch, START } from './testing.ts';

describe('nodes that read and convert documents, and crypto', () => {
  const PAGE: Sketch = { type: 'httpRequest', version: 4.2, parameters: { url: 'https://www.example.com/' } };
  const after = (sketch: Sketch): ImportResult =>
    read(
      n8n({ Start: START, Page: PAGE, Here: sketch }, [
        ['Start', 'Page'],
        ['Page', 'Here'],
      ]),
    );
  const nodeOf = (sketch: Sketch, label = 'Here') => {
    const result = after(sketch);
    const node = flowOf(result).nodes.find(({ data }) => data?.label === label);
    return { type: node?.type, config: node?.data?.config, kind: outcomeOf(result, 'Here')?.kind };
  };

  it('become HTML', () => {
    const values = [
      { key: 'title', cssSelector: 'h1' },
      { key: 'links', cssSelector: 'a', returnValue: 'attribute', attribute: 'href', returnArray: true },
      { key: 'body', cssSelector: 'main', returnValue: 'html' },
    ];
    const parameters = { operation: 'extractHtmlContent', extractionValues: { values } };
    const expected = {
      type: 'data.html',
      kind: 'mapped',
      config: {
        operation: 'extract',
        html: '{{nodes.page.output.body}}',
        fields: [
          { name: 'title', selector: 'h1', value: 'text' },
          { name: 'links', selector: 'a', value: 'attribute', attribute: 'href', all: true },
          { name: 'body', selector: 'main', value: 'html' },
        ],
      },
    };
    expect(nodeOf({ type: 'html', version: 1.2, parameters })).toEqual(expected);
    expect(nodeOf({ type: 'htmlExtract', parameters: { extractionValues: { values } } })).toEqual(expected);
  });

  it('become Markdown', () => {
    expect(nodeOf({ type: 'markdown', parameters: { html: '={{ $json.data }}' } })).toEqual({
      type: 'data.markdown',
      kind: 'mapped',
      config: { operation: 'from_html', text: '{{nodes.page.output.body}}' },
    });
    const back = { mode: 'markdownToHtml', markdown: 'x', options: { simpleLineBreaks: true } };
    expect(nodeOf({ type: 'markdown', parameters: back })).toEqual({
      type: 'data.markdown',
      kind: 'approximated',
      config: { operation: 'to_html', text: 'x', line_breaks: true },
    });
  });

  it('become XML', () => {
    const names = { attribute_prefix: '', text_name: '_' };
    expect(nodeOf({ type: 'xml' })).toEqual({
      type: 'data.xml',
      kind: 'mapped',
      config: { operation: 'parse', xml: '{{nodes.page.output.body}}', ...names },
    });
    expect(nodeOf({ type: 'xml', parameters: { mode: 'jsonToxml' } })).toMatchObject({
      type: 'data.xml',
      config: { operation: 'write', root: 'root', ...names },
    });
  });

  it('become a feed whose items have the names that they have there', () => {
    const sketch = { type: 'rssFeedRead', parameters: { url: 'https://www.example.com/feed' } };
    expect(nodeOf(sketch)).toEqual({
      type: 'data.feed',
      kind: 'mapped',
      config: { source: 'url', url: 'https://www.example.com/feed', limit: 1000 },
    });
    expect(nodeOf(sketch, 'Here: items')).toMatchObject({
      type: 'core.code',
      config: { input: { items: '{{nodes.here.output.items}}' } },
    });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['crypto', { action: 'generate' }, { operation: 'random', random: 'uuid' }],
    [
      'crypto',
      { action: 'generate', encodingType: 'hex', stringLength: 32 },
      { operation: 'random', random: 'bytes', length: 16, encoding: 'hex' },
    ],
    [
      'crypto',
      { type: 'SHA256', value: '={{ $json.data }}' },
      {
        operation: 'hash',
        data: '{{nodes.page_text.output.result.data | string}}',
        algorithm: 'sha256',
        encoding: 'hex',
      },
    ],
    [
      'crypto',
      { action: 'hmac', value: 'x', secret: 'not-kept', encoding: 'base64' },
      { operation: 'hmac', data: 'x', algorithm: 'md5', encoding: 'base64' },
    ],
    [
      'jwt',
      { claims: { audience: 'a', expiresIn: 60 }, options: { kid: 'k' } },
      { operation: 'jwt_sign', jwt_algorithm: 'HS256', key_id: 'k', claims: { aud: 'a' }, expires_in_s: 60 },
    ],
    [
      'jwt',
      { operation: 'verify', token: 'x' },
      { operation: 'jwt_verify', token: 'x', jwt_algorithm: 'HS256' },
    ],
    ['totp', { options: { digits: 8 } }, { operation: 'totp', digits: 8, period_s: 30 }],
  ])('become crypto: %s %j', (type, parameters, config) => {
    expect(nodeOf({ type, parameters })).toMatchObject({ type: 'core.crypto', config });
    expect(JSON.stringify(nodeOf({ type, parameters }))).not.toContain('not-kept');
  });

  it('are dropped where they do something else', () => {
    for (const parameters of [
      { action: 'sign' },
      { type: 'SHA3-256' },
      { action: 'generate', stringLength: 5000, encodingType: 'hex' },
    ])
      expect(nodeOf({ type: 'crypto', parameters }).kind).toBe('dropped');
    expect(nodeOf({ type: 'jwt', parameters: { operation: 'decode' } }).kind).toBe('dropped');
    expect(nodeOf({ type: 'html', version: 1.2, parameters: { operation: 'convertToHtmlTable' } }).kind).toBe(
      'dropped',
    );
  });
});
