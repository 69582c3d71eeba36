import {
  type ModelAnswer,
  type ModelError,
  type ModelRequest,
  type ModelServer,
  startModelServer,
} from '@millrace/testing/model-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Imported, openWorld, outputOf, statusesOf, type World } from './world.ts';

let world: World;
let model: ModelServer;
let summaries: Imported;
let answer: (request: ModelRequest) => string | ModelAnswer | { readonly error: ModelError };

beforeAll(async () => {
  model = await startModelServer({ key: 'sk-harbour', answer: (request) => answer(request) });
  world = await openWorld();
  summaries = await world.importExample('document-summary', {
    ai_credential: await world.addCredential('ai', {
      base_url: model.baseUrl('openai_compatible'),
      api_key: 'sk-harbour',
    }),
    ai_model: 'harbour-small',
    part_characters: 700,
  });
});
afterAll(async () => {
  await world.close();
  await model.close();
});

const USAGE = { input: 300, output: 60 };
const isWhole = ({ system }: ModelRequest) => system.includes('summaries of the parts');
const partOf = ({ messages }: ModelRequest) =>
  JSON.parse(messages.at(-1)?.text ?? '{}') as { title: string; part: number; text: string };

beforeEach(() => {
  answer = (request) => ({
    text: isWhole(request) ? 'All in all.' : `Part ${partOf(request).part}.`,
    usage: USAGE,
  });
});

async function summarise() {
  const before = model.requests.length;
  const execution = await world.finished(
    await world.execute(summaries.id, summaries.sample('harbour-report.json')),
  );
  return { execution, asked: model.requests.slice(before) };
}

describe('document-summary', () => {
  it('summarises each part, then the whole from the parts in order', async () => {
    const { execution, asked } = await summarise();

    expect(execution).toMatchObject({
      status: 'completed',
      display_name: 'Summary of Harbour report, third quarter of 2026',
    });
    expect(new Set(Object.values(statusesOf(execution)))).toEqual(new Set(['success']));
    const parts = asked.filter((request) => !isWhole(request)).map(partOf);
    expect(parts.length).toBeGreaterThan(2);
    const { text } = summaries.sample('harbour-report.json') as { text: string };
    const inOrder = parts.toSorted((a, b) => a.part - b.part);
    expect(inOrder.map((part) => part.text).join('\n\n')).toBe(text);
    expect(Math.max(...parts.map((part) => part.text.length))).toBeLessThanOrEqual(700);
    const lines = inOrder.map(({ part }) => `Part ${part}.`);
    const last = asked.at(-1);
    expect(last?.messages.at(-1)?.text).toBe(
      `Harbour report, third quarter of 2026\n\n${lines.join('\n\n')}`,
    );
    expect(outputOf(execution, 'result')).toEqual({
      title: 'Harbour report, third quarter of 2026',
      summary: 'All in all.',
      parts: lines,
    });
    expect(execution.consumed_ai_tokens).toBe(360 * asked.length);
    expect(
      asked.every(({ model: name, temperature }) => name === 'harbour-small' && temperature === 0.2),
    ).toBe(true);
    expect(JSON.stringify(execution)).not.toContain('sk-harbour');
  });

  it("continues after the provider's rate limit", async () => {
    let refusals = 0;
    const usual = answer;
    answer = (request) => {
      if (isWhole(request) || partOf(request).part !== 1 || refusals > 0) return usual(request);
      refusals += 1;
      return { error: { status: 429, headers: { 'retry-after': '0' } } };
    };
    const { execution } = await summarise();
    expect(refusals).toBe(1);
    expect(execution.status).toBe('completed');
    expect(outputOf(execution, 'result')).toMatchObject({ summary: 'All in all.' });
  });

  it('stops when the tokens are used up, and says so', async () => {
    answer = () => ({ text: 'Much ado.', usage: { input: 29_000, output: 1_000 } });
    const { execution, asked } = await summarise();

    expect(execution).toMatchObject({ status: 'failed', error: { code: 'token_budget_exceeded' } });
    expect(statusesOf(execution)).toMatchObject({ split: 'success', parts: 'cancelled' });
    expect(execution.node_outputs).not.toHaveProperty('whole');
    expect(asked.some(isWhole)).toBe(false);
    expect(execution.consumed_ai_tokens).toBeGreaterThan(50_000);
  });

  it("fails with the provider's reason if it will never answer", async () => {
    answer = () => ({ error: { status: 400, message: 'This model does not exist.' } });
    const { execution } = await summarise();
    expect(execution.status).toBe('failed');
    expect(execution.error?.message).toContain('This model does not exist.');
    expect(execution.error?.message).toContain('"Summarise the part"');
    expect(execution.error?.node_id).toBe('parts');
    expect(statusesOf(execution)).toMatchObject({ read: 'failed', parts: 'failed' });
  });
});
