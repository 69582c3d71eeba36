import { isJsonObject, type JsonValue } from '@millrace/engine';
import { asList, template } from '@millrace/importer-kit/refs';
import { type ResponseForm, responseForm } from '@millrace/importer-services/responses';
import type { Out } from '../compiler.ts';
import { asText, type N8nNode } from '../read.ts';
import type { Step } from '../step.ts';

/** The settings of a request. */
type Request = { readonly [name: string]: JsonValue };

/**
 * The items of a response: n8n makes one of each element of a list. Many if it is likely to be a list: an object is the only item then.
 * Where nothing is known it is one item, which whatever takes whole lists reads as many.
 */
export function responseOut(step: Step, body: string, request: Request): Out {
  const form = formOf(step, request);
  const next = step.compiler.reads.after(step.node.name);
  if (form === 'list' && !next.every(takesLists)) return step.many(asList(body));
  const out = step.one(body);
  if (form === 'object') return out;
  return { ...out, ref: { ...out.ref, perhapsMany: step.node.name } };
}

/**
 * Where the body of a response is: with a text as `data` of an item, as in n8n, if it is read so. Whether it is one is known only when it
 * comes.
 */
export function receivedBody(step: Step, id: string): string {
  const body = `nodes.${id}.output.body`;
  const { reads } = step.compiler;
  const read = reads.of(step.node.name).filter((rest) => READS_TEXT.test(rest));
  const next = reads.after(step.node.name).filter(({ kind }) => TEXT_NODES.has(kind));
  // Nodes that take a text read it where it is.
  if (read.length <= next.length) return body;
  const code = "const body = input.body ?? '';\nreturn typeof body === 'string' ? { data: body } : body;";
  const made = step.add('core.code', { code, input: { body: template(body) } }, { suffix: 'text' });
  return `nodes.${made}.output.result`;
}

/** Nodes that read a single item, and many, as a list. */
const LIST_NODES = new Set([
  'aggregate',
  'function',
  'limit',
  'merge',
  'removeDuplicates',
  'respondToWebhook',
  'sort',
  'splitInBatches',
  'summarize',
]);

function takesLists({ kind, parameters }: N8nNode): boolean {
  return LIST_NODES.has(kind) || (kind === 'code' && parameters.mode !== 'runOnceForEachItem');
}

/** Nodes that read a text or a file: a list is neither. */
const TEXT_NODES = new Set([
  'html',
  'htmlExtract',
  'markdown',
  'xml',
  'extractFromFile',
  'editImage',
  'compression',
]);

const MEMBER = String.raw`^(?:\??\.(?:item|first\(\)|last\(\)))?(?:\??\.json)?\??(?:\.|\[(?:\\"|'))`;

/** A member that an object around a list has, or an answer about a whole request: not one of several items. */
const ENVELOPE = new RegExp(
  `${MEMBER}(?:data|items|results?|responses?|choices|candidates|records|rows|hits|entries|predictions|outputs?|embeddings?|success|ok|total|total_count|meta|metadata|pagination|next_page|has_more|nextPageToken|access_token|organic_results|job_id|task_id)\\b(?!\\s*\\()`,
);

/** A member that is a list itself. */
const READS_LIST = new RegExp(
  `${MEMBER}[\\w.?]{1,60}(?:\\[\\d+\\]|\\.(?:map|filter|find|forEach|some|reduce|join|slice|first|last)\\()`,
);

/** `data` itself, or what only a text has. */
const READS_TEXT = new RegExp(
  `${MEMBER}data\\b(?!(?:\\\\"|'|\\])*\\??[.[](?!(?:match|matchAll|replace|replaceAll|split|substring|substr|trim|toString|toLowerCase|toUpperCase|startsWith|endsWith|includes|slice|length)\\b))`,
);

/** What a response is: by what is known of the service, how it is read, and what is asked for; null if nothing says it. */
function formOf(
  step: Step,
  { method = 'GET', url: address = '', query = null }: Request,
): ResponseForm | null {
  const { node, compiler } = step;
  // These versions do so only if told to.
  if (node.version < 3) return step.raw('options.splitIntoItems') === true ? 'list' : 'object';
  const url = asText(address);
  const known = responseForm(asText(method), url);
  if (known !== null) return known;
  const next = compiler.reads.after(node.name);
  const read = compiler.reads.of(node.name);
  if (
    step.raw('options.pagination') !== undefined ||
    next.some(({ kind, raw }) => kind === 'filter' || raw.executeOnce === true) ||
    read.some((rest) => rest.startsWith('.all()'))
  )
    return 'list';
  if (
    next.some(({ kind }) => kind === 'splitOut' || TEXT_NODES.has(kind)) ||
    read.some((rest) => ENVELOPE.test(rest))
  )
    return 'object';
  if (method === 'GET' && asksForMany(url, query)) return 'list';
  return read.some((rest) => READS_LIST.test(rest)) ? 'object' : null;
}

/** Parameters that ask for a part of a longer list. */
const PAGING = /^(?:_?limit|per_?page|page_?size|page|offset|skip|\$top|max_?results)$/i;

/** The path of a collection: `/users`, `/user-list`. */
const COLLECTION = /\/(?:[a-z][a-z_-]*s|[a-z_-]*(?:list|all))(?:\.json)?$/i;
const NO_COLLECTION =
  /(?:ss|us|is|news|settings|metrics|stats|statistics|analytics|details|credits)(?:\.json)?$/i;

function asksForMany(given: string, query: JsonValue): boolean {
  const [path = '', parameters = ''] = given.replaceAll(/\{\{.*?\}\}/gs, 'x').split('?');
  const names = [
    ...parameters.split('&').map((each) => each.split('=')[0] ?? ''),
    ...(isJsonObject(query) ? Object.keys(query) : []),
  ];
  const plain = path.trim().replace(/\/$/, '');
  return names.some((name) => PAGING.test(name)) || (COLLECTION.test(plain) && !NO_COLLECTION.test(plain));
}
