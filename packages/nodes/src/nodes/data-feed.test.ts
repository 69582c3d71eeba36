import type { HttpRequest, HttpResponse, JsonObject, JsonValue } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { dataFeed } from './data-feed.ts';

const URL = 'https://blog.example.com/feed';

async function read(text: string, more: JsonObject = {}): Promise<JsonObject> {
  const config = { source: 'text', text, url: URL, ...more };
  const { result } = await runNode(dataFeed, { config });
  if (!('output' in result) || result.kind !== 'success') throw new Error(JSON.stringify(result));
  return result.output;
}
const itemsOf = ({ items }: JsonObject) => items as readonly JsonObject[];

describe('reads', () => {
  it('RSS with the usual extensions', async () => {
    const rss = `<?xml version="1.0"?><rss version="2.0" xmlns:content="c" xmlns:dc="d" xmlns:media="m" xmlns:atom="a"><channel>
      <atom:link href="https://blog.example.com/feed" rel="self"/><title>T & U</title><link>/</link><language>en</language>
      <lastBuildDate>Fri, 02 Jan 2026 10:00:00 +0100</lastBuildDate>
      <item><title><![CDATA[<One>]]></title><media:title>other</media:title><link>/1</link><guid>https://blog.example.com/?p=1</guid>
      <dc:creator>Ada</dc:creator><pubDate>Thu, 01 Jan 2026 09:00:00 GMT</pubDate><content:encoded><![CDATA[<p>long</p>]]></content:encoded>
      <description>short &amp;amp; sweet</description><category>a</category><category>b</category>
      <enclosure url="/1.mp3" type="audio/mpeg" length="123"/><media:thumbnail url="/1.jpg"/></item></channel></rss>`;
    expect(await read(rss)).toEqual({
      feed: {
        format: 'rss',
        title: 'T & U',
        url: 'https://blog.example.com/',
        description: null,
        language: 'en',
        updated_at: '2026-01-02T09:00:00.000Z',
      },
      items: [
        {
          id: 'https://blog.example.com/?p=1',
          title: '<One>',
          url: 'https://blog.example.com/1',
          summary: 'short & sweet',
          content_html: '<p>long</p>',
          author: 'Ada',
          published_at: '2026-01-01T09:00:00.000Z',
          updated_at: null,
          categories: ['a', 'b'],
          attachments: [{ url: 'https://blog.example.com/1.mp3', type: 'audio/mpeg', size: 123 }],
          image: 'https://blog.example.com/1.jpg',
        },
      ],
      count: 1,
    });
  });

  it('RSS 1.0, where the items are beside the channel', async () => {
    const rdf =
      '<rdf:RDF xmlns:rdf="r"><channel><title>T</title></channel><item rdf:about="urn:1"><title>One</title><dc:date>2026-01-01T00:00:00Z</dc:date></item></rdf:RDF>';
    expect(itemsOf(await read(rdf))).toMatchObject([
      { id: 'urn:1', title: 'One', published_at: '2026-01-01T00:00:00.000Z' },
    ]);
  });

  it('Atom with markup of every kind', async () => {
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://atom.example.com/x/"><title type="html">A &amp;amp; &lt;b&gt;B&lt;/b&gt;</title>
      <link rel="self" href="feed"/><link href="./"/><updated>2026-01-03T00:00:00Z</updated><author><name>Bo</name></author>
      <entry><id>urn:1</id><title>One</title><link href="1"/><link rel="enclosure" href="1.zip" type="application/zip"/>
      <updated>2026-01-02T00:00:00Z</updated><category term="t" label="Tea"/>
      <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>x<br/>y</p></div></content></entry>
      <entry><id>urn:2</id><title>Two</title><published>2026-01-05T00:00:00Z</published><summary type="text">a &lt; b</summary></entry></feed>`;
    const result = await read(atom);
    expect(result.feed).toMatchObject({ format: 'atom', title: 'A & B', url: 'https://atom.example.com/x/' });
    expect(itemsOf(result)).toMatchObject([
      { id: 'urn:2', summary: 'a < b', content_html: 'a &lt; b', author: 'Bo' },
      {
        id: 'urn:1',
        url: 'https://atom.example.com/x/1',
        summary: 'x\ny',
        content_html: '<div xmlns="http://www.w3.org/1999/xhtml"><p>x<br/>y</p></div>',
        published_at: '2026-01-02T00:00:00.000Z',
        categories: ['Tea'],
        attachments: [{ url: 'https://atom.example.com/x/1.zip', type: 'application/zip', size: null }],
      },
    ]);
  });

  it('JSON Feed', async () => {
    const feed: JsonValue = {
      version: 'https://jsonfeed.org/version/1.1',
      title: 'J',
      authors: [{ name: 'Cy' }],
      items: [
        {
          id: 1,
          url: '/1',
          content_html: '<p>x</p>',
          date_published: '2026-01-01T00:00:00+09:00',
          tags: ['a', 1],
        },
      ],
    };
    expect(itemsOf(await read(JSON.stringify(feed)))).toMatchObject([
      {
        id: '1',
        url: 'https://blog.example.com/1',
        summary: 'x',
        author: 'Cy',
        published_at: '2025-12-31T15:00:00.000Z',
        categories: ['a'],
      },
    ]);
  });

  it('only as many items as asked for, and what is not well-formed', async () => {
    const item = (name: string) => `<item><title>${name} & ${name}</title>`;
    const result = await read(
      `<rss><channel><title>x<br>y</title>${item('a')}</item>${item('b')}</item></channel>`,
      {
        limit: 1,
      },
    );
    expect(result).toMatchObject({ items: [{ title: 'a & a', published_at: null }], count: 1 });
  });

  it('no entity that a document declares', async () => {
    const rss =
      '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><title>&x;</title></channel></rss>';
    expect((await read(rss)).feed).toMatchObject({ title: '&x;' });
  });
});

it.each(['', '<html></html>', '{"version":"1","items":[]}', '[]', '{'])('refuses %j', async (text) => {
  const { result } = await runNode(dataFeed, { config: { source: 'text', text } });
  expect(result).toMatchObject({ kind: 'failure', code: 'invalid_data' });
});

describe('fetches', () => {
  const answer = (body: string | Uint8Array, more: Partial<HttpResponse> = {}): HttpResponse => ({
    status: 200,
    headers: { 'content-type': 'text/xml' },
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    ...more,
  });
  const fetchWith = (http: HttpResponse, config: JsonObject = {}) =>
    runNode(dataFeed, { config: { url: URL, source: 'url', ...config }, http: [http] });

  it('with its limits', async () => {
    const { requests } = await fetchWith(answer('<rss/>'), { timeout_ms: 5, max_response_bytes: 6 });
    const [request] = requests as readonly [HttpRequest];
    expect(request).toMatchObject({ method: 'GET', url: URL, timeoutMs: 5, maxResponseBytes: 6 });
  });

  it('in the encoding that the document names', async () => {
    const latin = Uint8Array.from(
      '<?xml version="1.0" encoding="ISO-8859-1"?><rss><channel><title>caf\u00e9</title></channel></rss>',
      (letter) => letter.charCodeAt(0),
    );
    expect((await fetchWith(answer(latin))).result).toMatchObject({
      output: { feed: { title: 'caf\u00e9' } },
    });
  });

  it('and reports a status as http.request does', async () => {
    const headers = { 'retry-after': '3' };
    expect((await fetchWith(answer('', { status: 503, headers }))).result).toMatchObject({
      code: 'http_status',
      retryable: true,
      retryAfterMs: 3000,
    });
    expect((await fetchWith(answer('', { status: 404 }))).result).toMatchObject({ retryable: false });
  });

  it('with a credential', async () => {
    const { requests } = await runNode(dataFeed, {
      config: { url: URL, source: 'url', credential_id: 4 },
      credential: { type: 'bearer', token: 'your-token' },
      http: [answer('<rss/>')],
    });
    expect(requests[0]?.headers).toMatchObject({ authorization: 'Bearer your-token' });
  });
});
