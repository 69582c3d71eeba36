import type { JsonObject } from '@millrace/engine';
import type { Pagination, Place } from '../packages/connectors/src/format.ts';
import {
  type DescribedOperation,
  type DescribedSchema,
  listOf,
  type ServiceDescription,
  textOf,
} from './service-description.ts';

/** Names without the signs between their words: `page[after]` and `page_after` are `pageafter`. */
const SIZES = /^(limit|perpage|pagesize|pagelimit|pageitems|maxresults|count|top|first|size|results)$/;
const CURSORS =
  /^(cursor|startcursor|pagecursor|after|pageafter|offset|pagetoken|nextpagetoken|nexttoken|continuation|continuationtoken|nextcursor)$/;
const NEXT_CURSORS =
  /next(page)?(token|cursor|after|offset|startingafter)$|(^|paging|pagination|meta|cursors|pageinfo)(after|aftercursor|endcursor)$|^continuationtoken$/;
const NEXT_URLS = /(^|links|paging|pagination|meta)next(url|link|pageurl|href|linkurl|pagelink)?$/;
const PAGES = /^(page|pagenumber|pageno|pageindex)$/;
const OFFSETS = /^(offset|skip|startat|start|startindex)$/;
const HAS_MORE = /^(hasmore|hasnextpage|more)$/;
const LISTS = ['data', 'items', 'results', 'value', 'values', 'records', 'entries', 'nodes', 'list'];
/** What the engine fetches at once. */
const MAX_SIZE = 1_000;
/** Where the description has no bound. */
const USUAL_SIZE = 100;
const MAX_DEPTH = 4;

/** Something in an answer or a body, and what stands beside it. */
interface Leaf {
  readonly names: readonly string[];
  readonly schema: JsonObject;
  readonly isNumber: boolean;
}

/** Something that a request may send. */
interface Sent extends Leaf {
  readonly place: Place;
}

/** The ways in which a service says that an operation lists by pages, the one that is followed best first; none if it doesn't say so. */
export function describedPages(
  described: DescribedOperation,
  description: ServiceDescription,
): readonly Pagination[] {
  const sent = sentIn(described, description);
  const size = sent.find(({ names }) => SIZES.test(plain(names.at(-1))));
  if (size === undefined) return [];
  const found = leavesOf(described.answer, description);
  const list = listIn(described.answer, found, description);
  if (list === null) return [];
  const items = `{{${read(list)}}}`;
  const bound = Number(size.schema.maximum ?? USUAL_SIZE);
  const page = { items, size: { ...size.place, max: Math.max(1, Math.min(bound, MAX_SIZE)) } };
  const others = sent.filter((each) => each !== size);
  const next = nextCursor(found);
  const into = others.find(({ names, isNumber }) => isCursor(names) && !isNumber);
  const url = found.find(isNextUrl);
  const [number, offset] = [PAGES, OFFSETS].map((kind) =>
    others.find(({ names, isNumber }) => isNumber && kind.test(plain(names.at(-1)))),
  );
  const after = others.find(({ names }) => plain(names.at(-1)) === 'startingafter');
  const more = found.find(({ names }) => names.length === 1 && HAS_MORE.test(plain(names[0])));
  const first = Number(number?.schema.default ?? number?.schema.minimum ?? 1);
  return [
    ...(described.headers?.has('link') === true ? [{ type: 'link' as const, ...page }] : []),
    ...(next === null || into === undefined
      ? []
      : [{ type: 'cursor' as const, ...page, next, into: into.place }]),
    ...(after === undefined || more === undefined
      ? []
      : [
          {
            type: 'cursor' as const,
            ...page,
            next: `{{${read(more.names)} ? (${read(list)} | map: "id" | last) : null}}`,
            into: after.place,
          },
        ]),
    ...(url === undefined ? [] : [{ type: 'next_url' as const, ...page, next: `{{${read(url.names)}}}` }]),
    ...(number === undefined
      ? []
      : [{ type: 'page' as const, ...page, into: number.place, ...(first === 0 ? { first } : {}) }]),
    ...(offset === undefined ? [] : [{ type: 'offset' as const, ...page, into: offset.place }]),
  ];
}

function isCursor(names: readonly string[]): boolean {
  return CURSORS.test(plain(names.at(-1)));
}

/** A relative address isn't followed: only what is said to be a whole one. */
function isNextUrl({ names, schema }: Leaf): boolean {
  if (names[0] === '@odata.nextLink') return true;
  const isAddress = /^(uri|url)$/.test(textOf(schema.format)) || /(url|link|href)$/.test(plain(names.at(-1)));
  return isAddress && NEXT_URLS.test(plain(names.join('')));
}

/** The template of what asks for the next page; services that give one for the last page, too, say whether there is a next one. */
function nextCursor(found: readonly Leaf[]): string | null {
  const leaf = found.find(({ names }) => NEXT_CURSORS.test(plain(names.join(''))));
  if (leaf === undefined) return null;
  const beside = leaf.names.slice(0, -1);
  const more = found.find(
    ({ names }) =>
      names.length === beside.length + 1 &&
      beside.every((name, index) => names[index] === name) &&
      HAS_MORE.test(plain(names.at(-1))),
  );
  return more === undefined || plain(leaf.names.at(-1)).startsWith('next')
    ? `{{${read(leaf.names)}}}`
    : `{{${read(more.names)} ? ${read(leaf.names)} : null}}`;
}

/** Where the list is; null where there is none, or several of which none has a usual name. */
function listIn(
  answer: DescribedSchema,
  found: readonly Leaf[],
  description: ServiceDescription,
): readonly string[] | null {
  if ((description.variantsOf(answer) ?? []).some(({ type }) => type === 'array')) return [];
  const lists = found.filter(
    ({ names, schema }) => schema.type === 'array' && names[0]?.startsWith('_') === false,
  );
  const nearest = Math.min(...lists.map(({ names }) => names.length));
  const near = lists.filter(({ names }) => names.length === nearest);
  const usual = LISTS.flatMap((name) => near.filter(({ names }) => names.at(-1) === name));
  return (near.length === 1 ? near[0] : usual[0])?.names ?? null;
}

function sentIn({ parameters, body }: DescribedOperation, description: ServiceDescription): readonly Sent[] {
  const inQuery = parameters
    .filter((each) => each.in === 'query')
    .map(({ name, schema }) => {
      const known = description.resolve(schema ?? undefined) ?? {};
      return {
        names: [name],
        schema: known,
        isNumber: isNumber(known),
        place: { in: 'query' as const, name },
      };
    });
  // Further down stand conditions and the like, except in GraphQL, where everything is a variable.
  const leaves = leavesOf(body?.schema ?? null, description, 2).filter(
    ({ names }) => names.length === 1 || names[0] === 'variables',
  );
  const inBody = leaves.map((leaf) => ({
    ...leaf,
    place: {
      in: 'body' as const,
      name: leaf.names.length === 1 ? (leaf.names[0] ?? '') : `/${leaf.names.join('/')}`,
    },
  }));
  return [...inQuery, ...inBody];
}

/** What stands in an object, at any depth but not in lists. */
function leavesOf(
  given: DescribedSchema,
  description: ServiceDescription,
  depth = MAX_DEPTH,
  above: readonly string[] = [],
): readonly Leaf[] {
  const schema = description.resolve(given ?? undefined);
  if (schema === null || depth === 0) return [];
  return [...description.membersOf(schema).properties].flatMap(([name, member]) => {
    const names = [...above, name];
    const [known = {}] = description.variantsOf(member) ?? [];
    const below = leavesOf(member, description, depth - 1, names);
    return known.type === 'array' || below.length === 0
      ? [{ names, schema: known, isNumber: isNumber(known) }]
      : below;
  });
}

function isNumber({ type }: JsonObject): boolean {
  const types = [textOf(type), ...listOf(type).map(String)];
  return types.includes('integer') || types.includes('number');
}

function plain(name = ''): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** How a template reads it. */
function read(names: readonly string[]): string {
  return names.reduce(
    (text, name) => (/^[A-Za-z_]\w*$/.test(name) ? `${text}.${name}` : `${text}[${JSON.stringify(name)}]`),
    'args.response.body',
  );
}
