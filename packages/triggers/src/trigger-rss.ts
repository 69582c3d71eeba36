import {
  type Conversion,
  HTTP_CREDENTIAL_TYPES,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type PolledItem,
  type PollResult,
  success,
} from '@millrace/engine';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { EXAMPLE_ENTRY, fetchFeed } from '@millrace/node-kit/http/fetch-feed';
import { Type } from 'typebox';
import { pollingProperties } from './polling/config.ts';
import { hashOf } from './polling/list-items.ts';

const MIB = 1024 * 1024;
/** Of the limit of a whole poll, so that reading the feed has time left. */
const FETCH_MS = 30_000;
const CONVERSION_MS = 20_000;
/** As many as the parser reads. */
const MAX_ENTRIES = 1_000;

export const triggerRss = checkedNode({
  type: 'trigger.rss',
  title: 'New feed item',
  description:
    'Reads a feed (RSS, Atom or JSON Feed) at an interval and starts one execution for each new item, oldest first. trigger.data is the item: id, title, url, summary, content_html, author, published_at, updated_at, categories, attachments and image. An item that changes later starts nothing.',
  icon: 'rss',
  kind: 'trigger',
  properties: {
    url: Type.String({
      title: 'URL',
      description: 'The address of the feed.',
      default: '',
      'x-placeholder': 'https://www.example.com/feed.xml',
      'x-filled': true,
      'x-url': true,
    }),
    credential_id: credentialProperty(
      HTTP_CREDENTIAL_TYPES,
      'Credential',
      'For a feed that is not public.',
      'optional',
    ),
    max_response_bytes: Type.Integer({
      title: 'Maximum response size',
      description: 'Maximum size of the feed in bytes, after decompression.',
      minimum: 1,
      maximum: 8 * MIB,
      default: 4 * MIB,
    }),
    ...pollingProperties,
  },
  required: ['url'],
  form: {
    main: ['url', 'credential_id', 'interval_s', 'existing'],
    sections: [{ title: 'Limits', fields: ['max_response_bytes'] }],
  },
  synonyms: ['rss', 'atom', 'json feed', 'news', 'blog', 'podcast', 'poll', 'new article'],
  examples: [
    {
      title: 'Each new article of a blog',
      config: { url: 'https://tea.example.com/feed', interval_s: 900 },
      trigger: EXAMPLE_ENTRY,
      expect: { output: { data: EXAMPLE_ENTRY } },
    },
  ],
  polling: {
    async poll(config, context): Promise<PollResult> {
      const url = config.url.trim();
      const fetched = await fetchFeed({ ...config, timeout_ms: FETCH_MS }, context);
      if (fetched.kind === 'failure') return fetched;
      const baseUrl = URL.parse(url)?.href ?? null;
      const conversion: Conversion = { kind: 'feed', baseUrl, limit: MAX_ENTRIES };
      const order = { text: fetched.text, conversion, timeoutMs: CONVERSION_MS };
      const feed = (await context.documents.convert(order, context.signal)) as JsonObject;
      const entries = feed.items ?? [];
      const items = isJsonArray(entries) ? entries.filter(isJsonObject).map(itemOf) : [];
      // Feeds list the newest first.
      return { kind: 'polled', items: items.toReversed(), position: null };
    },
  },
  run: (_config, context) => success({ data: context.triggerData }),
});

function itemOf(entry: JsonObject): PolledItem {
  const id = [entry.id, entry.url].find((each) => typeof each === 'string' && each !== '');
  return { id: typeof id === 'string' ? id : hashOf(entry), data: entry };
}
