import {
  type Conversion,
  HTTP_CREDENTIAL_TYPES,
  isJsonArray,
  type JsonObject,
  type JsonValue,
  success,
} from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { MAX_TIMEOUT_MS } from '@millrace/node-kit/http/config';
import { EXAMPLE_ENTRY, fetchFeed, MAX_CONVERSION_MS } from '@millrace/node-kit/http/fetch-feed';
import { Type } from 'typebox';
import { documentText } from '../documents/config.ts';

const MIB = 1024 * 1024;
const WHEN_URL = { source: ['url'] };

const RSS = `<rss version="2.0"><channel><title>Tea news</title><link>https://tea.example.com/</link>
<item><guid isPermaLink="false">n2</guid><title>Sencha &amp; more</title><link>/n2</link><pubDate>Thu, 01 Jan 2026 09:00:00 GMT</pubDate>
<description>&lt;p&gt;New &lt;b&gt;harvest&lt;/b&gt;&lt;/p&gt;</description><category>tea</category></item></channel></rss>`;

export const dataFeed = checkedNode({
  type: 'data.feed',
  title: 'RSS feed',
  description:
    'Reads a feed (RSS, Atom or JSON Feed) from a URL, or from text that was fetched before. The output is {feed, items, count}: each item has id, title, url, summary (text), content_html, author, published_at, updated_at, categories, attachments and image, empty where the feed has none, whatever its format.',
  icon: 'rss',
  kind: 'effect',
  properties: {
    source: choice(
      'Source',
      'Fetch the feed from its URL, or read the text of one that you already have.',
      { url: 'URL', text: 'Text' },
      { default: 'url' },
    ),
    url: Type.String({
      title: 'URL',
      description:
        'The address of the feed. With text: the address it came from, which completes links in it; may be empty.',
      default: '',
      'x-placeholder': 'https://www.example.com/feed.xml',
      'x-filled': true,
      'x-when': WHEN_URL,
    }),
    text: Type.Unsafe<JsonValue>({
      title: 'Text',
      description: 'The text of the feed, usually a template such as {{nodes.fetch.output.body}}.',
      default: '',
      'x-filled': true,
      'x-when': { source: ['text'] },
    }),
    credential_id: Type.Unsafe<number>({
      ...credentialProperty(
        HTTP_CREDENTIAL_TYPES,
        'Credential',
        'For a feed that is not public.',
        'optional',
      ),
      'x-when': WHEN_URL,
    }),
    limit: Type.Integer({
      title: 'Limit',
      description: 'The maximum number of items; the newest are kept.',
      minimum: 1,
      maximum: 1_000,
      default: 100,
    }),
    timeout_ms: Type.Integer({
      title: 'Timeout',
      description: 'Time limit for fetching in milliseconds, including redirects.',
      minimum: 1,
      maximum: MAX_TIMEOUT_MS,
      default: 30_000,
      'x-when': WHEN_URL,
    }),
    max_response_bytes: Type.Integer({
      title: 'Maximum response size',
      description: 'Maximum size of the feed in bytes, after decompression.',
      minimum: 1,
      maximum: 16 * MIB,
      default: 4 * MIB,
      'x-when': WHEN_URL,
    }),
  },
  required: ['source'],
  defaultTimeoutMs: MAX_TIMEOUT_MS + MAX_CONVERSION_MS + 10_000,
  form: {
    main: ['source', 'url', 'text', 'credential_id', 'limit'],
    sections: [{ title: 'Limits', fields: ['timeout_ms', 'max_response_bytes'] }],
  },
  synonyms: ['rss', 'atom', 'json feed', 'news', 'blog', 'podcast', 'syndication', 'rss read'],
  examples: [
    {
      title: 'The newest entries of a blog',
      config: { source: 'url', url: 'https://tea.example.com/feed', limit: 10 },
      http: [
        {
          status: 200,
          headers: { 'content-type': 'application/rss+xml' },
          body: new TextEncoder().encode(RSS),
        },
      ],
      expect: {
        output: {
          feed: {
            format: 'rss',
            title: 'Tea news',
            url: 'https://tea.example.com/',
            description: null,
            language: null,
            updated_at: null,
          },
          items: [EXAMPLE_ENTRY],
          count: 1,
        },
      },
    },
    {
      title: 'A page instead of a feed',
      config: { source: 'text', text: '<html><body>Not found</body></html>' },
      expect: { failure: { code: 'invalid_data' } },
    },
  ],
  async run(config, context) {
    const { source, url, limit } = config;
    const baseUrl = URL.parse(url.trim())?.href ?? null;
    const conversion: Conversion = { kind: 'feed', baseUrl, limit };
    let text: string;
    if (source === 'url') {
      const fetched = await fetchFeed(config, context);
      if (fetched.kind === 'failure') return fetched;
      text = fetched.text;
    } else {
      text = documentText(config.text, 'text');
    }
    const order = { text, conversion, timeoutMs: MAX_CONVERSION_MS };
    const read = (await context.documents.convert(order, context.signal)) as JsonObject;
    const items = read.items ?? null;
    return success({ ...read, count: isJsonArray(items) ? items.length : 0 });
  },
});
