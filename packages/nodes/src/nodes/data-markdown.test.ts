import { type JsonObject, type JsonValue, success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { dataMarkdown } from './data-markdown.ts';

const run = async (config: JsonObject) => (await runNode(dataMarkdown, { config })).result;
const toHtml = (text: JsonValue, more: JsonObject = {}) => run({ operation: 'to_html', text, ...more });
const toMarkdown = async (text: string, more: JsonObject = {}): Promise<JsonValue> => {
  const result = await run({ operation: 'from_html', text, ...more });
  return 'output' in result ? ((result.output as JsonObject).markdown ?? null) : null;
};

describe('Markdown to HTML', () => {
  it('has tables, strikethrough and code', async () => {
    expect(await toHtml('| a | b |\n|---|---|\n| 1 | ~~2~~ |\n\n```js\n<x>\n```')).toEqual(
      success({
        html: '<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td><s>2</s></td>\n</tr>\n</tbody>\n</table>\n<pre><code class="language-js">&lt;x&gt;\n</code></pre>\n',
      }),
    );
  });

  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt&colon;alert(1))',
    '[x](&#106;avascript:alert(1))',
    '![x](data:text/html;base64,PHN2Zz4=)',
    '<javascript:alert(1)>',
    '[x]: vbscript:a\n\n[x]',
    '[a](<javascript:alert(1)>)',
    '[x](https://a.example/"onmouseover="alert(1))',
  ])('makes %s harmless', async (text) => {
    const result = await toHtml(text);
    const html = JSON.stringify('output' in result ? result.output : null);
    expect(html).not.toMatch(/<(?:script|img)|(?:href|src)=\\"(?:javascript|vbscript|data)|" ?onmouseover=/i);
  });

  it('passes HTML on and keeps line breaks if asked to', async () => {
    expect(await toHtml('<b>x</b> [y](tel:1)\nz', { raw_html: true, line_breaks: true })).toEqual(
      success({ html: '<p><b>x</b> <a href="tel:1">y</a><br>\nz</p>\n' }),
    );
  });

  it('needs text', async () => {
    expect(await toHtml({ a: 1 })).toMatchObject({ kind: 'failure', code: 'invalid_data' });
  });
});

describe('HTML to Markdown', () => {
  it.each([
    ['<h1>A <em>b</em></h1><p>c<br>d</p>', '# A _b_\n\nc  \nd'],
    ['<p><strong> a </strong>b</p>', '**a** b'],
    ['<p>1 * 2 _x_ [y] &lt;b&gt; `c` a\\b</p>', '1 \\* 2 \\_x\\_ \\[y\\] \\<b\\> \\`c\\` a\\\\b'],
    ['<p># no heading</p><p>1. no list</p><p>- no list</p>', '\\# no heading\n\n1\\. no list\n\n\\- no list'],
    ['<p><a href="javascript:alert(1)">x</a> <a href="java\tscript:y">z</a></p>', 'x z'],
    ['<a href="/a b" title=\'q"q\'>x</a>', '[x](</a b> "q\\"q")'],
    ['<a href="/x"><h3>Title</h3><p>text</p></a>', '[Title text](/x)'],
    ['<img src="/i.png" alt="a [b]"><img alt="c">', '![a \\[b\\]](/i.png)c'],
    ['<pre><code class="language-js">a `b`\n  c</code></pre>', '```js\na `b`\n  c\n```'],
    ['<p><code>a`b</code></p>', '``a`b``'],
    ['<blockquote><p>a</p><p>b</p></blockquote>', '> a\n>\n> b'],
    ['<ol start="3"><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ol>', '3. a\n   - b\n   - c\n4. d'],
    ['<ul><li><p>a</p><p>b</p></li></ul>', '- a\n\n  b'],
    [
      '<table><tr><th>a</th><th>b|c</th></tr><tr><td>1</td></tr></table>',
      '| a | b\\|c |\n| --- | --- |\n| 1 |  |',
    ],
    ['<table><tr><td><p>layout</p></td></tr></table>', 'layout'],
    ['<style>p{}</style><div>a</div>b<hr><script>x</script>', 'a\n\nb\n\n---'],
    ['<del>a</del><s>b</s> <b></b>', '~~a~~~~b~~'],
    ['', ''],
  ])('%s', async (html, markdown) => {
    expect(await toMarkdown(html)).toBe(markdown);
  });

  it('takes a part of the page, and null if it is not there', async () => {
    const page = '<nav>x</nav><main><p>a <a href="b">c</a></p></main>';
    expect(await toMarkdown(page, { selector: 'main', base_url: 'https://www.example.com/a/' })).toBe(
      'a [c](https://www.example.com/a/b)',
    );
    expect(await toMarkdown(page, { selector: 'article' })).toBeNull();
  });

  it('survives the way back', async () => {
    const html =
      '<h2>Tea &amp; cake</h2>\n<p>One <strong>two</strong> <a href="https://a.example/?b=1&amp;c=2">three</a> *four* #5</p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n';
    const result = await toHtml(await toMarkdown(html));
    expect(result).toEqual(success({ html }));
  });
});
