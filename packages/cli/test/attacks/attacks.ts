import { chain, type Flow, type Step } from '../faults/support/client.ts';

/** How much of everything an attack has. */
export interface Scale {
  /** Items of its lists. */
  readonly items: number;
  /** Executions that hold large answers. */
  readonly answers: number;
  /** Requests that are refused. */
  readonly requests: number;
  /** Executions whose call is not answered. */
  readonly slowCalls: number;
  readonly queued: number;
}

/** Data that the outside world has, by path. */
export type Sources = { readonly [path: string]: string };

/** What one organisation does to the service. */
export interface Attack {
  readonly name: string;
  /** How often it is started. */
  readonly starts: number;
  readonly flow: (url: (path: string) => string) => Flow;
  /** `completed`, or the code of the error with which its executions end. */
  readonly end: string;
  /** Starts that are refused. */
  readonly refused?: Refused;
}

/** Requests to start the workflow, sent one after the other. */
export interface Refused {
  readonly count: number;
  readonly body: string;
  /** Of every response. */
  readonly status: number;
}

/** A path that doesn't respond until the attack is over. */
export const SLOW_PATH = '/slow';

const ROWS = '{{nodes.rows.output.body}}';
const KEYS = '{{nodes.keys.output.body}}';
/** A node may be made to wait for memory by its own organisation's others. */
const PATIENT_MS = 240_000;

export function sourcesOf({ items }: Scale): Sources {
  const rows = Array.from({ length: items }, (_, n) => ({
    key: `v${n}`,
    group: n % 100,
    price: `${n}.50`,
    note: 'x'.repeat(100),
  }));
  return {
    '/rows': JSON.stringify(rows),
    '/keys': JSON.stringify(rows.map(({ key }) => key)),
    '/ones': JSON.stringify(Array.from({ length: items }, () => 1)),
    '/texts': JSON.stringify({ text: 'a'.repeat(25 * items), part: `${'a'.repeat(10 * items)}b` }),
    '/deep': `${'['.repeat(items)}1e400${']'.repeat(items)}`,
    '/large': JSON.stringify(rows.map(({ note }) => ({ note, list: [{}, {}, {}] }))),
  };
}

function get(id: string, url: string): Step {
  return {
    id,
    type: 'http.request',
    config: { url, timeout_ms: PATIENT_MS, max_response_bytes: 16 * 1024 * 1024 },
  };
}

function onRows(type: string, config: object): Attack['flow'] {
  return (url) => chain(get('rows', url('/rows')), get('keys', url('/keys')), { id: 'work', type, config });
}

const ofData = (step: object): Attack['flow'] => onRows('core.data', { data: ROWS, steps: [step] });
const ofTemplate = (template: string): Attack['flow'] => onRows('core.set', { values: { made: template } });

export function attacksOf({ answers, requests, slowCalls, queued }: Scale): readonly Attack[] {
  const filter = (operator: string): Attack['flow'] =>
    onRows('core.filter', { items: ROWS, conditions: [{ field: 'key', operator, right: KEYS }] });
  return [
    { name: 'filter by a list of the same length', starts: 3, flow: filter('not_in'), end: 'completed' },
    {
      name: 'sort',
      starts: 3,
      flow: ofData({ operation: 'sort', by: [{ field: 'key' }] }),
      end: 'completed',
    },
    { name: 'unique', starts: 3, flow: ofData({ operation: 'unique' }), end: 'completed' },
    {
      name: 'group',
      starts: 3,
      flow: ofData({ operation: 'group', by: ['group', 'key'] }),
      end: 'completed',
    },
    {
      name: 'join with itself',
      starts: 3,
      flow: ofData({ operation: 'join', with: ROWS, on: [{ left: 'key', right: 'key' }], as: 'other' }),
      end: 'completed',
    },
    {
      name: 'template that sorts 20 times',
      starts: 3,
      flow: ofTemplate(`{{nodes.rows.output.body ${'| sort: "key" '.repeat(20)}}}`),
      end: 'template_too_expensive',
    },
    {
      name: 'search in the worst text',
      starts: 3,
      flow: (url) =>
        chain(get('texts', url('/texts')), {
          id: 'work',
          type: 'core.if',
          config: {
            conditions: [
              {
                left: '{{nodes.texts.output.body.text}}',
                operator: 'contains',
                right: '{{nodes.texts.output.body.part}}',
              },
            ],
          },
        }),
      end: 'completed',
    },
    {
      name: 'loop over all items',
      starts: 2,
      flow: (url) => {
        const { nodes, edges } = chain(get('ones', url('/ones')), {
          id: 'loop',
          type: 'core.for_each',
          config: { items: '{{nodes.ones.output.body}}', concurrency: 100, result: '{{item}}' },
        });
        const body = {
          id: 'inside',
          type: 'core.set',
          parentId: 'loop',
          data: { config: { values: { n: '{{item}}' } } },
        };
        return { nodes: [...nodes, body], edges };
      },
      end: 'completed',
    },
    {
      name: 'code that never ends',
      starts: 4,
      flow: () =>
        chain({ id: 'work', type: 'core.code', config: { code: 'for (;;) {}', timeout_ms: 1_000 } }),
      end: 'code_timeout',
    },
    {
      name: 'JSON nested as deeply as it is long',
      starts: 3,
      flow: (url) =>
        chain(get('deep', url('/deep')), { id: 'work', type: 'core.set', config: { values: { a: 1 } } }),
      end: 'completed',
    },
    {
      name: 'large answers, all at once',
      starts: answers,
      flow: (url) => chain(get('large', url('/large')), get('again', url('/large'))),
      end: 'completed',
    },
    {
      name: 'outputs that double',
      starts: 2,
      flow: (url) => chain(get('rows', url('/rows')), ...doubling(8)),
      end: 'execution_too_large',
    },
    {
      name: 'calls that are not answered',
      starts: slowCalls,
      flow: (url) => chain(get('slow', url(SLOW_PATH))),
      end: 'completed',
    },
    refusedStarts(
      'input for a schema that multiplies',
      { items: { anyOf: Array.from({ length: 1_000 }, (_, n) => ({ const: n })) } },
      { count: requests, body: `[${'999,'.repeat(100_000)}999]`, status: 422 },
    ),
    refusedStarts(
      'text that matches a pattern at its end or nowhere',
      { pattern: '^(a|a)*(a|b)*(b|a)*c$' },
      { count: requests, body: `"${'a'.repeat(900_000)}"`, status: 422 },
    ),
    refusedStarts(
      'requests nested as deeply as they are long',
      {},
      { count: requests, body: `${'['.repeat(500_000)}${']'.repeat(500_000)}`, status: 400 },
    ),
    {
      name: 'a long queue',
      starts: queued,
      flow: () => chain({ id: 'work', type: 'core.set', config: { values: { a: 1 } } }),
      end: 'completed',
    },
  ];
}

/** @param schema of the member `data` of the input @param refused its body is that member */
function refusedStarts(name: string, schema: object, { body, ...refused }: Refused): Attack {
  const settings = { input_schema: { properties: { data: schema } } };
  const flow = chain({ id: 'work', type: 'core.set', config: { values: { a: 1 } } });
  return {
    name,
    starts: 0,
    flow: () => ({ ...flow, settings }),
    end: 'completed',
    refused: { ...refused, body: `{"input_data":{"data":${body}}}` },
  };
}

/** Each node's output has twice the size of the one before. */
function doubling(times: number): Step[] {
  const before = (n: number): string => (n === 0 ? ROWS : `{{nodes.double${n - 1}.output}}`);
  return Array.from({ length: times }, (_, n) => ({
    id: `double${n}`,
    type: 'core.set',
    config: { values: { left: before(n), right: before(n) } },
  }));
}
