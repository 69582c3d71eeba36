import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { render } from 'dom-serializer';
import { type Element, isCDATA, isTag, isText, type ParentNode } from 'domhandler';
import { DocumentFault } from './fault.ts';
import { completeUrl, readTree, visibleText } from './tree.ts';

/** One entry, the same for every kind of feed; what the feed doesn't have is null. */
type Entry = { readonly published_at: string | null } & {
  readonly [Name in
    | 'id'
    | 'title'
    | 'url'
    | 'summary'
    | 'content_html'
    | 'author'
    | 'updated_at'
    | 'categories'
    | 'attachments'
    | 'image']: JsonValue;
};

interface Options {
  /** The feed's own address, which completes those in it. */
  readonly baseUrl: string | null;
  /** Further entries are left out. */
  readonly limit: number;
}

/**
 * Reads RSS 0.9 to 2.0, Atom and JSON Feed, leniently as feeds are often not well-formed. The newest entries come first if all have a date,
 * else they are in the feed's order.
 * @throws DocumentFault invalid_data when it is none of them
 */
export function readFeed(text: string, options: Options): JsonObject {
  const json = /^\s*\{/.test(text) ? tryParseJson(text) : undefined;
  if (json !== undefined && isJsonObject(json)) return readJsonFeed(json, options);
  const page = readTree(text, 'xml');
  const root = page.children.find(isTag);
  switch (root === undefined ? '' : localName(root)) {
    case 'rss':
      return readRss(child(root, 'channel'), listOf(child(root, 'channel'), 'item'), options);
    case 'RDF':
      return readRss(child(root, 'channel'), listOf(root, 'item'), options);
    case 'feed':
      return readAtom(root as Element, options);
    default:
      throw new DocumentFault('invalid_data', message('ports.not_a_feed'));
  }
}

function readRss(channel: Element | undefined, items: readonly Element[], options: Options): JsonObject {
  const complete = (address: string | null) =>
    address === null ? null : completeUrl(address, options.baseUrl);
  const about = {
    format: 'rss',
    title: textOf(channel, 'title'),
    url: complete(textOf(channel, 'link')),
    description: textOf(channel, 'description'),
    language: textOf(channel, 'language'),
    updated_at: dateOf(textOf(channel, 'lastBuildDate') ?? textOf(channel, 'pubDate')),
  };
  const entries = items.map((item): Entry => {
    const guid = child(item, 'guid');
    const isAddress = guid !== undefined && guid.attribs.isPermaLink !== 'false';
    const id = textOf(item, 'guid');
    const link = textOf(item, 'link') ?? (isAddress && /^https?:/i.test(id ?? '') ? id : null);
    const description = markupOf(child(item, 'description'));
    return {
      id: id ?? item.attribs['rdf:about'] ?? link,
      title: textOf(item, 'title'),
      url: complete(link),
      summary: plain(description),
      content_html: markupOf(child(item, 'encoded')) ?? description,
      author: textOf(item, 'creator') ?? textOf(item, 'author'),
      published_at: dateOf(textOf(item, 'pubDate') ?? textOf(item, 'date')),
      updated_at: null,
      categories: listOf(item, 'category').map(plainText),
      attachments: listOf(item, 'enclosure').map((each) =>
        attachment(each, complete(each.attribs.url ?? null)),
      ),
      image: complete(imageOf(item)),
    };
  });
  return feedOf(about, entries, options);
}

function readAtom(root: Element, options: Options): JsonObject {
  const base = root.attribs['xml:base'];
  const baseUrl = base === undefined ? options.baseUrl : completeUrl(base, options.baseUrl);
  const complete = (address: string | null) => (address === null ? null : completeUrl(address, baseUrl));
  const link = (parent: Element): string | null =>
    complete(
      listOf(parent, 'link').find(({ attribs }) => (attribs.rel ?? 'alternate') === 'alternate')?.attribs
        .href ?? null,
    );
  const about = {
    format: 'atom',
    title: constructText(child(root, 'title')),
    url: link(root),
    description: constructText(child(root, 'subtitle')),
    language: root.attribs['xml:lang'] ?? null,
    updated_at: dateOf(textOf(root, 'updated')),
  };
  const entries = listOf(root, 'entry').map((entry): Entry => {
    const content = markupOf(child(entry, 'content'));
    const summary = markupOf(child(entry, 'summary'));
    const updated = dateOf(textOf(entry, 'updated'));
    return {
      id: textOf(entry, 'id') ?? link(entry),
      title: constructText(child(entry, 'title')),
      url: link(entry),
      summary: plain(summary ?? content),
      content_html: content ?? summary,
      author: textOf(child(entry, 'author') ?? child(root, 'author'), 'name'),
      published_at: dateOf(textOf(entry, 'published')) ?? updated,
      updated_at: updated,
      categories: listOf(entry, 'category').map(({ attribs }) => attribs.label ?? attribs.term ?? ''),
      attachments: listOf(entry, 'link')
        .filter(({ attribs }) => attribs.rel === 'enclosure')
        .map((each) => attachment(each, complete(each.attribs.href ?? null))),
      image: complete(imageOf(entry)),
    };
  });
  return feedOf(about, entries, options);
}

function feedOf(about: JsonObject, entries: readonly Entry[], { limit }: Options): JsonObject {
  return { feed: about, items: newestFirst(entries).slice(0, limit) };
}

function readJsonFeed(feed: JsonObject, options: Options): JsonObject {
  if (
    typeof feed.version !== 'string' ||
    !feed.version.includes('jsonfeed.org') ||
    !isJsonArray(feed.items ?? null)
  ) {
    throw new DocumentFault('invalid_data', message('ports.not_a_feed'));
  }
  const { baseUrl } = options;
  const string = (value: JsonValue | undefined): string | null =>
    typeof value === 'string' && value !== '' ? value : null;
  const address = (value: JsonValue | undefined): string | null => {
    const text = string(value);
    return text === null ? null : completeUrl(text, baseUrl);
  };
  const objects = (value: JsonValue | undefined): readonly JsonObject[] =>
    isJsonArray(value ?? null) ? (value as readonly JsonValue[]).filter(isJsonObject) : [];
  const authorOf = (part: JsonObject): string | null => {
    const [first] = [...objects(part.authors), ...objects(part.author === undefined ? [] : [part.author])];
    return first === undefined ? null : string(first.name);
  };
  const entries = objects(feed.items).map((item): Entry => {
    const html = string(item.content_html);
    const text = string(item.content_text);
    return {
      id: typeof item.id === 'number' ? String(item.id) : string(item.id),
      title: string(item.title),
      url: address(item.url) ?? address(item.external_url),
      summary: string(item.summary) ?? text ?? plain(html),
      content_html: html,
      author: authorOf(item) ?? authorOf(feed),
      published_at: dateOf(string(item.date_published)),
      updated_at: dateOf(string(item.date_modified)),
      categories: (isJsonArray(item.tags ?? null) ? (item.tags as readonly JsonValue[]) : []).filter(
        (tag) => typeof tag === 'string',
      ),
      attachments: objects(item.attachments).map((each) => ({
        url: address(each.url),
        type: string(each.mime_type),
        size: typeof each.size_in_bytes === 'number' ? each.size_in_bytes : null,
      })),
      image: address(item.image) ?? address(item.banner_image),
    };
  });
  const about = {
    format: 'json',
    title: string(feed.title),
    url: address(feed.home_page_url),
    description: string(feed.description),
    language: string(feed.language),
    updated_at: null,
  };
  return feedOf(about, entries, options);
}

function newestFirst(entries: readonly Entry[]): readonly Entry[] {
  if (entries.some(({ published_at: at }) => at === null)) return entries;
  return entries.toSorted((left, right) => compare(right.published_at ?? '', left.published_at ?? ''));
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A moment in UTC; null for what isn't a date. */
function dateOf(text: string | null): string | null {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

function attachment({ attribs }: Element, url: string | null): JsonObject {
  const size = Number(attribs.length ?? Number.NaN);
  return { url, type: attribs.type ?? null, size: Number.isSafeInteger(size) && size > 0 ? size : null };
}

/** Of Media RSS or iTunes. */
function imageOf(item: Element): string | null {
  const media = [item, ...listOf(item, 'group')].flatMap((within) => [
    ...listOf(within, 'thumbnail'),
    ...listOf(within, 'content').filter(
      ({ attribs }) => attribs.medium === 'image' || attribs.type?.startsWith('image/') === true,
    ),
    ...listOf(within, 'image'),
  ]);
  const [first] = media.flatMap(({ attribs }) => attribs.url ?? attribs.href ?? []);
  return first ?? null;
}

function localName({ name }: Element): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Children by name, whatever their namespace; those without a prefix first, as title and media:title may be beside each other. */
function listOf(parent: Element | undefined, name: string): Element[] {
  const found = (parent?.children ?? []).filter(isTag).filter((each) => localName(each) === name);
  return [...found.filter((each) => each.name === name), ...found.filter((each) => each.name !== name)];
}

function child(parent: Element | undefined, name: string): Element | undefined {
  const found = listOf(parent, name);
  // In RSS, atom:link is empty and stands beside the link.
  return found.find((each) => rawText(each).trim() !== '') ?? found[0];
}

function rawText(parent: ParentNode): string {
  return parent.children
    .map((node) => (isText(node) ? node.data : isTag(node) || isCDATA(node) ? rawText(node) : ''))
    .join('');
}

function plainText(element: Element): string {
  return rawText(element).replace(/\s+/g, ' ').trim();
}

function textOf(parent: Element | undefined, name: string): string | null {
  const found = child(parent, name);
  const text = found === undefined ? '' : plainText(found);
  return text === '' ? null : text;
}

/** Markup, which feeds contain escaped or as it is. */
function markupOf(element: Element | undefined): string | null {
  if (element === undefined) return null;
  const isInline = element.attribs.type === 'xhtml' || element.children.some(isTag);
  const text = (isInline ? render(element.children, { xmlMode: true }) : rawText(element)).trim();
  if (text === '') return null;
  return element.attribs.type === 'text'
    ? text.replace(/[&<>]/g, (character) => TEXT_ESCAPES[character] ?? '')
    : text;
}

const TEXT_ESCAPES: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A title, which may be markup in Atom. */
function constructText(element: Element | undefined): string | null {
  const markup = markupOf(element);
  if (markup === null || element === undefined) return null;
  return /^x?html$/.test(element.attribs.type ?? '') ? plain(markup) : plainText(element);
}

function plain(markup: string | null): string | null {
  if (markup === null) return null;
  const text = visibleText(readTree(markup, 'html'));
  return text === '' ? null : text;
}
