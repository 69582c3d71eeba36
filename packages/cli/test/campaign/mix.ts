import { createHash } from 'node:crypto';
import { whenCalled } from '../faults/support/caller.ts';
import { chain, type Flow, type Step, set } from '../faults/support/client.ts';
import type { Random } from './random.ts';

/** A call that an execution makes: a node, and the index in its loop. */
export interface ExpectedCall {
  readonly node: string;
  readonly index: number;
}

/** What an execution comes out as, whatever happens on the way. */
export interface Expectation {
  readonly status: 'completed' | 'failed';
  /** Code of its error; null unless it fails. */
  readonly errorCode: string | null;
  /** Output of the node `result`; null if it has none. */
  readonly result: { readonly [name: string]: unknown } | null;
  readonly calls: readonly ExpectedCall[];
}

/** One start of a campaign. */
export interface PlannedStart {
  readonly marker: string;
  readonly kind: Kind;
  /** With an Idempotency-Key it is repeated until it is accepted. */
  readonly hasKey: boolean;
  /** Sent again after it was accepted. */
  readonly isRepeated: boolean;
  readonly input: { readonly [name: string]: number };
}

/** Addresses of the outside world by their purpose. */
export type UrlOf = (path: string) => string;

interface KindRules {
  /** Share of the starts, in percent of the sum. */
  readonly weight: number;
  /** Null for a workflow that only others start. */
  readonly input: ((random: Random) => { readonly [name: string]: number }) | null;
  readonly flow: (url: UrlOf, idOf: (kind: Kind) => number) => Flow;
  readonly expected: (marker: string, input: { readonly [name: string]: number }) => Expectation;
}

export const KINDS = [
  'pure',
  'calls',
  'loop',
  'child',
  'parent',
  'delay',
  'callback',
  'retries',
  'large',
  'fails',
  'limited',
  'cancelled',
  'greedy',
  'rated',
  'debounced',
  'keyed',
  'newest',
  'file',
  'respond',
] as const;
export type Kind = (typeof KINDS)[number];

/** `settings.max_concurrency` of the kind `limited`. */
export const LIMIT = 3;
/** `settings.concurrency` of the kind `keyed`, for each of its keys. */
export const KEYED_LIMIT = 2;
export const LOOP_ITEMS = 5;
/** Kinds whose executions may be cancelled because of a newer one with the same key, and the code that says so. */
export const SUPERSEDED: { readonly [Name in Kind]?: string } = {
  debounced: 'replaced_by_newer_start',
  newest: 'cancelled_by_newer_execution',
};
/** A kind that is started by calls of its webhook, which wait for the answer of a node. */
export const isCalled = (kind: Kind): boolean => kind === 'respond';
/** Organisation of the kind `greedy`: it sends all of its starts as fast as it can. */
export const isGreedy = (kind: Kind): boolean => kind === 'greedy';

/** The outside world is in trouble for seconds; the attempts of a node last longer. */
const RETRY = { max_attempts: 20, backoff_ms: 150, max_backoff_ms: 1_500 };
const CALL_TIMEOUT_MS = 10_000;

function call(id: string, url: string, extra: object = {}): Step {
  return {
    id,
    type: 'http.request',
    retry: RETRY,
    config: {
      method: 'POST',
      url,
      timeout_ms: CALL_TIMEOUT_MS,
      body: {
        marker: '{{trigger.data.marker}}',
        execution: '{{execution.id}}',
        node: id,
        index: 0,
        ...extra,
      },
    },
  };
}

const MARKED = { marker: '{{trigger.data.marker}}' };
const none = (): { readonly [name: string]: number } => ({});
const once = (...nodes: string[]): ExpectedCall[] => nodes.map((node) => ({ node, index: 0 }));

function completed(result: Expectation['result'], calls: readonly ExpectedCall[]): Expectation {
  return { status: 'completed', errorCode: null, result, calls };
}

/** Few keys, so that starts with the same one meet. */
const keyed = (random: Random) => ({ key: random.between(1, 2) });
const KEY = '{{trigger.data.key}}';

const RULES: { readonly [Name in Kind]: KindRules } = {
  pure: {
    weight: 18,
    input: (random) => ({ n: random.between(0, 1_000_000) }),
    flow: () =>
      chain(
        set('shape', { upper: '{{trigger.data.marker | upper}}', n: '{{trigger.data.n}}' }),
        set('again', { n: '{{nodes.shape.output.n}}' }),
        set('result', { upper: '{{nodes.shape.output.upper}}', n: '{{nodes.again.output.n}}' }),
      ),
    expected: (marker, { n }) => completed({ upper: marker.toUpperCase(), n }, []),
  },
  calls: {
    weight: 16,
    input: none,
    flow: (url) =>
      chain(
        call('first', url('/work')),
        call('second', url('/work')),
        set('result', {
          ...MARKED,
          first: '{{nodes.first.output.status}}',
          second: '{{nodes.second.output.status}}',
        }),
      ),
    expected: (marker) => completed({ marker, first: 200, second: 200 }, once('first', 'second')),
  },
  loop: {
    weight: 10,
    input: none,
    flow: (url) => {
      const items = Array.from({ length: LOOP_ITEMS }, (_, index) => index);
      const loop: Step = {
        id: 'loop',
        type: 'core.for_each',
        config: { items, concurrency: 2, result: '{{nodes.item.output.status}}' },
      };
      const outer = chain(loop, set('result', { ...MARKED, items: '{{nodes.loop.output.items}}' }));
      const [item] = chain(call('item', url('/work'), { index: '{{index}}' })).nodes.slice(1);
      if (item === undefined) throw new Error('A chain has the nodes it is made of');
      return { ...outer, nodes: [...outer.nodes, { ...item, parentId: 'loop' }] };
    },
    expected: (marker) =>
      completed(
        { marker, items: Array.from({ length: LOOP_ITEMS }, () => 200) },
        Array.from({ length: LOOP_ITEMS }, (_, index) => ({ node: 'item', index })),
      ),
  },
  child: {
    weight: 0,
    input: null,
    flow: (url) => chain(call('work', url('/work')), set('result', { ...MARKED, done: true })),
    expected: (marker) => completed({ marker, done: true }, once('work')),
  },
  parent: {
    weight: 8,
    input: none,
    flow: (url, idOf) =>
      chain(
        {
          id: 'call',
          type: 'flow.call',
          config: { workflow_id: idOf('child'), input: { marker: childOf(MARKED.marker) } },
        },
        call('after', url('/work')),
        set('result', MARKED),
      ),
    expected: (marker) => completed({ marker }, once('after')),
  },
  delay: {
    weight: 10,
    input: (random) => ({ delay_ms: random.between(10, 3_000) }),
    flow: (url) =>
      chain(
        call('before', url('/work')),
        { id: 'delay', type: 'core.delay', config: { duration_ms: '{{trigger.data.delay_ms}}' } },
        call('after', url('/work')),
        set('result', MARKED),
      ),
    expected: (marker) => completed({ marker }, once('before', 'after')),
  },
  callback: {
    weight: 10,
    input: none,
    flow: (url) => {
      const { config, retry } = call('wait', url('/callback'), { callback_url: '{{args.callback_url}}' });
      const request = config as { readonly [name: string]: unknown };
      return chain(
        { id: 'wait', type: 'wait.callback', retry: retry ?? RETRY, config: { request } },
        call('after', url('/work')),
        set('result', { ...MARKED, value: '{{nodes.wait.output.value}}' }),
      );
    },
    // Which of the values sent it is, is judged with the callbacks.
    expected: (marker) => completed({ marker }, once('wait', 'after')),
  },
  retries: {
    weight: 8,
    input: (random) => ({ failures: random.between(1, 4) }),
    flow: (url) =>
      chain(call('flaky', url('/flaky'), { failures: '{{trigger.data.failures}}' }), set('result', MARKED)),
    expected: (marker) => completed({ marker }, once('flaky')),
  },
  large: {
    weight: 6,
    input: (random) => ({ size: random.between(20_000, 300_000) }),
    flow: (url) =>
      chain(
        call('fetch', url('/large'), { size: '{{trigger.data.size}}' }),
        set('copy', { text: '{{nodes.fetch.output.body.text}}' }),
        set('result', { ...MARKED, length: '{{nodes.copy.output.text | length}}' }),
      ),
    expected: (marker, { size }) => completed({ marker, length: size }, once('fetch')),
  },
  fails: {
    weight: 4,
    input: none,
    flow: (url) =>
      chain(call('work', url('/work')), {
        id: 'refuse',
        type: 'core.fail',
        config: { code: 'as_expected', message: 'This workflow fails.' },
      }),
    expected: () => ({ status: 'failed', errorCode: 'as_expected', result: null, calls: once('work') }),
  },
  limited: {
    weight: 5,
    input: none,
    flow: (url) => ({
      ...chain(call('work', url('/slow')), set('result', MARKED)),
      settings: { max_concurrency: LIMIT },
    }),
    expected: (marker) => completed({ marker }, once('work')),
  },
  cancelled: {
    weight: 5,
    input: (random) => ({ cancel_after_ms: random.between(0, 1_500) }),
    flow: (url) =>
      chain(
        call('before', url('/work')),
        { id: 'delay', type: 'core.delay', config: { duration_ms: 600 } },
        call('after', url('/work')),
        set('result', MARKED),
      ),
    // Unless it is cancelled before.
    expected: (marker) => completed({ marker }, once('before', 'after')),
  },
  greedy: {
    weight: 5,
    input: none,
    flow: (url) => chain(call('work', url('/slow')), call('more', url('/slow')), set('result', MARKED)),
    expected: (marker) => completed({ marker }, once('work', 'more')),
  },
  rated: {
    weight: 4,
    input: keyed,
    flow: (url) => ({
      ...chain(call('work', url('/work')), set('result', MARKED)),
      settings: { rate: { limit: 1, per_seconds: 1, key: KEY } },
    }),
    expected: (marker) => completed({ marker }, once('work')),
  },
  debounced: {
    weight: 4,
    input: keyed,
    flow: (url) => ({
      ...chain(call('work', url('/work')), set('result', MARKED)),
      settings: { debounce: { seconds: 1, max_seconds: 3, key: KEY } },
    }),
    // Unless a newer start replaces it.
    expected: (marker) => completed({ marker }, once('work')),
  },
  keyed: {
    weight: 4,
    input: keyed,
    flow: (url) => ({
      ...chain(call('work', url('/slow')), set('result', MARKED)),
      settings: { concurrency: { limit: KEYED_LIMIT, on_limit: 'queue', key: KEY } },
    }),
    expected: (marker) => completed({ marker }, once('work')),
  },
  newest: {
    weight: 4,
    input: keyed,
    flow: (url) => ({
      ...chain(
        call('before', url('/slow')),
        { id: 'delay', type: 'core.delay', config: { duration_ms: 800 } },
        call('after', url('/work')),
        set('result', MARKED),
      ),
      settings: { concurrency: { limit: 1, on_limit: 'cancel_running', key: KEY } },
    }),
    // Unless a newer one cancels it.
    expected: (marker) => completed({ marker }, once('before', 'after')),
  },
  file: {
    weight: 5,
    input: (random) => ({ size: random.between(1, 200_000) }),
    flow: (url) => {
      const fetch = call('fetch', url('/file'), { size: '{{trigger.data.size}}' });
      return chain(
        { ...fetch, config: { ...fetch.config, response_type: 'file' } },
        set('result', {
          ...MARKED,
          file: '{{nodes.fetch.output.body}}',
          sha256: '{{nodes.fetch.output.body.sha256}}',
        }),
      );
    },
    expected: (marker, { size = 0 }) =>
      completed({ marker, sha256: sha256Of(contentOf(marker, size)) }, once('fetch')),
  },
  respond: {
    weight: 5,
    input: none,
    flow: (url) =>
      whenCalled(
        { respond: 'by_node', timeout_s: 5, deduplicate: { by: 'path', name: 'marker' } },
        call('before', url('/work')),
        {
          id: 'answer',
          type: 'webhook.respond',
          config: { status: 201, body: { ...MARKED, execution_id: '{{execution.id}}' } },
        },
        call('after', url('/work')),
        set('result', MARKED),
      ),
    expected: (marker) => completed({ marker }, once('before', 'after')),
  },
};

/** Marker of the execution that the kind `parent` starts. */
export const childOf = (marker: string): string => `${marker}/child`;

/** What the outside world serves as the file of an execution. */
export const contentOf = (marker: string, size: number): string =>
  `${marker} `.repeat(Math.ceil(size / (marker.length + 1))).slice(0, size);

export const sha256Of = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

/** The workflow of a kind. */
export function flowOf(kind: Kind, url: UrlOf, idOf: (kind: Kind) => number): Flow {
  return RULES[kind].flow(url, idOf);
}

/** What the execution of a start comes out as. */
export function expectationOf({
  kind,
  marker,
  input,
}: Pick<PlannedStart, 'kind' | 'marker' | 'input'>): Expectation {
  return RULES[kind].expected(marker, input);
}

/** Kinds that are also started many by one request. */
const BATCHED: readonly Kind[] = ['pure', 'calls', 'limited', 'rated', 'debounced', 'keyed', 'newest'];
const BATCH_PERCENT = 12;

/** The starts of a campaign in their order, those of one request together; the same seed, the same plan. */
export function planStarts(random: Random, count: number): PlannedStart[][] {
  const deck = KINDS.flatMap((kind) => Array.from({ length: RULES[kind].weight }, () => kind));
  const requests: PlannedStart[][] = [];
  let hand: Kind[] = [];
  for (let n = 1; n <= count; ) {
    if (hand.length === 0) hand = random.shuffle(deck);
    const kind = hand.pop() ?? 'pure';
    const isBatch = BATCHED.includes(kind) && random.chance(BATCH_PERCENT);
    const size = isBatch ? Math.min(random.between(2, 12), count - n + 1) : 1;
    const hasKey = random.chance(65);
    requests.push(
      Array.from({ length: size }, (_, item) => ({
        marker: `${kind}-${n + item}`,
        kind,
        hasKey,
        isRepeated: hasKey && random.chance(25),
        input: RULES[kind].input?.(random) ?? {},
      })),
    );
    n += size;
  }
  return requests;
}
