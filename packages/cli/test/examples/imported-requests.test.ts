import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runImported } from './imported-run.ts';
import { chainOf } from './n8n-original.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  world.outside.forget();
  world.outside.on('POST /report', { body: {} });
});

const VERSIONS = { httpRequest: 4.2, code: 2, splitOut: 1 };
const bodies = (line: string) => world.outside.to(line).map(({ body }) => body);

/** Runs code of n8n, and what it returned is reported: once for each item. */
async function runCode(jsCode: string, input: { [name: string]: unknown } = {}, mode?: string) {
  const split = mode === undefined ? [] : [['Split', 'splitOut', { fieldToSplitOut: 'ids' }] as const];
  await runImported(
    world,
    chainOf('Imported', VERSIONS, [
      ['Start', 'manualTrigger'],
      ...split,
      ['Code', 'code', { jsCode, ...(mode === undefined ? {} : { mode }) }],
      [
        'Report',
        'httpRequest',
        {
          method: 'POST',
          url: `${world.outside.url}/report`,
          sendBody: true,
          specifyBody: 'json',
          jsonBody: '={{ JSON.stringify($json) }}',
        },
      ],
    ]),
    JSON.parse(JSON.stringify(input)) as never,
  );
  return bodies('POST /report');
}

describe('code of an imported n8n workflow that sends requests', () => {
  it('sends each once, in its order, and gets the responses', async () => {
    world.outside.on('GET /users/1', { body: { name: 'Ada' } });
    world.outside.on('GET /users/2', { body: { name: 'Ben' } });
    world.outside.on('POST /greet', ({ body }) => ({ body: { got: body } }));
    const reports = await runCode(
      `const found = [];
for (const id of $json.ids) {
  const user = await this.helpers.httpRequest({ url: '${world.outside.url}/users/' + id, qs: { full: 1 }, headers: { 'X-Own': 'a' } });
  found.push(user.name);
}
const stamp = Date.now();
const answer = await this.helpers.httpRequest({ method: 'POST', url: '${world.outside.url}/greet', body: { found, stamp }, json: true });
return [{ json: { found, isSame: answer.got.stamp === stamp, names: answer.got.found } }];`,
      { ids: [1, 2] },
    );
    expect(reports).toEqual([{ found: ['Ada', 'Ben'], isSame: true, names: ['Ada', 'Ben'] }]);
    expect(world.outside.to('GET /users/1')).toHaveLength(1);
    expect(world.outside.to('GET /users/1')[0]?.headers['x-own']).toBe('a');
    expect(bodies('POST /greet')).toHaveLength(1);
  });

  it('sends what is asked for at once, and catches what fails', async () => {
    for (const id of [1, 2, 3])
      world.outside.on(
        `GET /part/${id}`,
        id === 2 ? { status: 404, body: { why: 'gone' } } : { body: { id } },
      );
    const reports = await runCode(
      `const parts = await Promise.all([1, 2, 3].map(async (id) => {
  try {
    const { body, statusCode } = await this.helpers.httpRequest({ url: '${world.outside.url}/part/' + id, returnFullResponse: true });
    return { statusCode, id: body.id };
  } catch (error) {
    return { status: error.statusCode, why: error.response.body.why };
  }
}));
return { json: { parts } };`,
    );
    expect(reports).toEqual([
      {
        parts: [
          { statusCode: 200, id: 1 },
          { status: 404, why: 'gone' },
          { statusCode: 200, id: 3 },
        ],
      },
    ]);
  });

  it('runs for each item, and reads the text of an answer with the older helper', async () => {
    world.outside.on('POST /form', ({ text }) => ({ body: { got: text } }));
    const reports = await runCode(
      `const text = await this.helpers.request({ method: 'POST', uri: '${world.outside.url}/form', form: { id: $json.ids, at: $itemIndex } });
return { json: { kind: typeof text, text } };`,
      { ids: [7, 8] },
      'runOnceForEachItem',
    );
    expect(reports).toEqual([
      { kind: 'string', text: expect.stringContaining('id=7&at=0') },
      { kind: 'string', text: expect.stringContaining('id=8&at=1') },
    ]);
  });
});
