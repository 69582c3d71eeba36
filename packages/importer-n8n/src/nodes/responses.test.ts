import { describe, expect, it } from 'vitest';
import { configOf, n8n, outcomeOf, read, type Sketch, START } from '../testing.ts';

const NOTE = {
  kind: 'approximated',
  what: [expect.objectContaining({ key: 'import.response_is_one_item' })],
};

const reading = (value: string): Sketch => ({
  type: 'set',
  version: 3.4,
  parameters: { assignments: { assignments: [{ name: 'x', type: 'string', value }] } },
});

/** A request, and what follows it. */
function asked(url: string, next: Sketch | null, more: { readonly [name: string]: unknown } = {}) {
  const request = { type: 'httpRequest', version: 4.2, parameters: { url, options: {}, ...more } as never };
  const nodes = { Start: START, Ask: request, ...(next === null ? {} : { Next: next }) };
  return read(
    n8n(
      nodes,
      next === null
        ? [['Start', 'Ask']]
        : [
            ['Start', 'Ask'],
            ['Ask', 'Next'],
          ],
    ),
  );
}

const FIELD = reading('={{ $json.name }}');
const OWN = 'https://own.example.com';

describe('a response of which nothing is known', () => {
  it('is one item, and the report says so', () => {
    expect(outcomeOf(asked(`${OWN}/status`, FIELD), 'Ask')).toMatchObject(NOTE);
    const named = reading("={{ $('Ask').item.json.name }}");
    expect(outcomeOf(asked(`${OWN}/status`, named), 'Ask')).toMatchObject(NOTE);
  });

  it.each([
    ['nothing follows', null],
    ['what follows takes lists', { type: 'code', version: 2, parameters: { jsCode: 'return items;' } }],
  ])('needs no word if %s', (_why, next) => {
    expect(outcomeOf(asked(`${OWN}/status`, next), 'Ask')).toMatchObject({ kind: 'mapped' });
  });
});

it.each([
  ['a path of a collection', `${OWN}/v1/orders`, FIELD, {}],
  ['a page of a list', `${OWN}/search?q=a&per_page=5`, FIELD, {}],
  [
    'a page of a list, by a parameter',
    `${OWN}/search`,
    FIELD,
    { sendQuery: true, queryParameters: { parameters: [{ name: 'limit', value: '5' }] } },
  ],
  ['pages', `${OWN}/a`, FIELD, { options: { pagination: { pagination: {} } } }],
  ['a node that runs once', `${OWN}/a`, { ...FIELD, more: { executeOnce: true } }, {}],
  ['what is known of the service', 'https://api.github.com/repos/a/b/issues', FIELD, {}],
  ['an actor', 'https://api.apify.com/v2/acts/a~b/run-sync-get-dataset-items', FIELD, { method: 'POST' }],
  ['reads of all items', `${OWN}/a`, reading("={{ $('Ask').all().length }}"), {}],
] as const)('a response is read as a list because of %s', (_why, url, next, more) => {
  const result = asked(url, next as Sketch, more);
  expect(JSON.stringify(result.workflow)).toContain('nodes.ask.output.body | concat: null');
  expect(outcomeOf(result, 'Ask')).toMatchObject({ kind: 'pages' === _why ? 'approximated' : 'mapped' });
});

it.each([
  ['a member that stands around lists', `${OWN}/orders`, reading('={{ $json.results }}')],
  [
    'a member that is divided',
    `${OWN}/orders`,
    { type: 'splitOut', parameters: { fieldToSplitOut: 'list' } },
  ],
  ['what is known of the service', 'https://api.openai.com/v1/threads', FIELD],
  ['a member that is a list', `${OWN}/one`, reading('={{ $json.parts[0].name }}')],
  ['a text that is read', `${OWN}/one`, { type: 'markdown', parameters: { html: '={{ $json.data }}' } }],
] as const)('a response is one item because of %s', (_why, url, next) => {
  const result = asked(url, next as Sketch);
  expect(JSON.stringify(result.workflow)).not.toContain('concat: null');
  expect(outcomeOf(result, 'Ask')).toMatchObject({ kind: 'mapped' });
  expect(configOf(result, 'For each: Next')).toBeUndefined();
});

it.each([
  ['a longer time limit than there is here', { timeout: 900_000 }, 'timeout_capped'],
  ['certificates that are not checked', { allowUnauthorizedCerts: true }, 'certificate_checked'],
  ['pauses', { batching: { batch: { batchSize: 1, batchInterval: 500 } } }, 'requests_not_spaced'],
  ['a proxy', { proxy: 'http://proxy.example.com' }, 'proxy_left_out'],
])('of a request, %s is reported', (_what, options, key) => {
  const what = [expect.objectContaining({ key: `import.${key}` })];
  expect(outcomeOf(asked(`${OWN}/status`, null, { options }), 'Ask')).toMatchObject({ what });
});

it('a request waits as long as in n8n, and follows redirects only if the original does', () => {
  const wait = (options: object) => configOf(asked(`${OWN}/status`, null, { options }), 'Ask');
  expect(wait({})).toMatchObject({ timeout_ms: 300_000 });
  expect(wait({})).not.toHaveProperty('follow_redirects');
  const options = { timeout: 5000, redirect: { redirect: { followRedirects: false } } };
  expect(wait(options)).toMatchObject({ timeout_ms: 5000, follow_redirects: false });
});

it('an empty item is reported where each round of a loop has its own', () => {
  const split = { type: 'splitOut', parameters: { fieldToSplitOut: 'rows' } };
  const result = read(
    n8n({ Start: START, Rows: split, Parts: { ...split, more: { alwaysOutputData: true } }, Next: FIELD }, [
      ['Start', 'Rows'],
      ['Rows', 'Parts'],
      ['Parts', 'Next'],
    ]),
  );
  const what = [expect.objectContaining({ key: 'import.empty_item_left_out' })];
  expect(outcomeOf(result, 'Parts')).toMatchObject({ what });
});
