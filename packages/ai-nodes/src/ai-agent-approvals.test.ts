import { failure, type JsonObject, type NodeResult, validateValue } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { describe, expect, it } from 'vitest';
import { APPROVAL_URL, calling, converse, done, LOOK_UP, REFUND, resultsBefore } from './agent/testing.ts';
import { aiAgent } from './ai-agent.ts';

const CAREFUL = { ...REFUND, approval: 'always' };
const refund = (order: number): JsonObject => ({ name: 'refund', arguments: { order } }) as never;

function outputOf(result: NodeResult): JsonObject {
  if (!('output' in result) || result.output === undefined) throw new Error(`${result.kind} has no output`);
  return result.output;
}

/** The output with which the node waits. */
function waiting(result: NodeResult): JsonObject & { readonly pending: JsonObject } {
  expect(result.kind).toBe('await_signal');
  return outputOf(result) as JsonObject & { readonly pending: JsonObject };
}

interface Given {
  readonly decision?: string;
  readonly comment?: string;
  readonly values?: JsonObject;
}

/** Decides, and goes on as the engine does. */
async function decide(
  config: JsonObject,
  result: NodeResult,
  { decision = 'approve', comment = '', values = {} }: Given,
  script: Omit<Parameters<typeof converse>[1], 'ai'> & {
    readonly ai?: Parameters<typeof converse>[1]['ai'];
  } = {},
) {
  const { question = '' } = waiting(result).pending;
  const by = { via: 'member', member_id: 3, email: 'ada@example.org' };
  const at = '2026-01-01T00:00:00.000Z';
  const payload = { question, decision, comment, decided_by: by, decided_at: at, values };
  const resumed = { signal: { kind: 'signal', payload }, waiting: waiting(result) } as const;
  const taken = await converse(config, { ai: [], resumed });
  expect(taken.result.kind).toBe('again');
  const output = outputOf(taken.result);
  return converse(config, { ai: [done], ...script, previousOutput: output });
}

describe('ai.agent: approvals', () => {
  it('asks before it makes a call, and makes no other call of the turn meanwhile', async () => {
    const { result, questions, starts, orders } = await converse(
      { tools: [LOOK_UP, CAREFUL] },
      { ai: [{ ...calling({}, refund(17)), text: 'I pay back.' }] },
    );
    expect(waiting(result)).toMatchObject({ text: 'I pay back.', steps: [], usage: { total_tokens: 0 } });
    expect(result).toMatchObject({ consumedAiTokens: 110 });
    expect([orders, starts]).toEqual([[], []]);
    expect(questions).toEqual([
      {
        expiresAtMs: Date.parse('2026-01-08T00:00:00.000Z'),
        title: 'refund',
        text: 'I pay back.\n\nrefund\n{\n  "order": 17\n}',
        choices: [
          { id: 'approve', label: 'Approve' },
          { id: 'reject', label: 'Reject' },
        ],
        question: expect.stringMatching(/^1\.[0-9a-f]{32}$/),
      },
    ]);
  });

  it('goes on after the approval without asking the model again, and shows who approved', async () => {
    const config = { tools: [LOOK_UP, CAREFUL] };
    const { result } = await converse(config, { ai: [calling({}, refund(17))] });
    const after = await decide(config, result, { comment: 'fine' });
    expect(after.starts).toMatchObject(
      [{ workflowId: 7, input: { order: 17 }, callKey: /^1\.2\./ }].map((start) => ({
        ...start,
        callKey: expect.stringMatching(start.callKey),
      })),
    );
    expect(after.orders).toHaveLength(1);
    expect(after.asked).toHaveLength(1);
    expect(resultsBefore(after.asked, 1)).toEqual([
      [{ found: 3 }, false],
      [{ paid: true }, false],
    ]);
    expect(after.result).toMatchObject({
      kind: 'success',
      consumedAiTokens: 155,
      output: {
        usage: { total_tokens: 265 },
        steps: [
          {
            tool_calls: [
              { name: 'look_up' },
              {
                name: 'refund',
                result: { paid: true },
                approval: {
                  decision: 'approved',
                  reason: 'fine',
                  decided_by: { via: 'member', email: 'ada@example.org' },
                  decided_at: '2026-01-01T00:00:00.000Z',
                },
              },
            ],
          },
          { text: 'Three are left.' },
        ],
      },
    });
    expect(outputOf(after.result)).not.toHaveProperty('pending');
  });

  it('tells the model why a call was rejected, and that nobody decided', async () => {
    const config = { tools: [CAREFUL] };
    const { result } = await converse(config, { ai: [calling(refund(17))] });
    const rejected = await decide(config, result, { decision: 'reject', comment: 'Ask the customer first.' });
    expect(rejected.starts).toEqual([]);
    expect(resultsBefore(rejected.asked, 1)).toEqual([
      ['Not run: a person rejected this call. Their reason: Ask the customer first.', true],
    ]);
    const resumed = { signal: { kind: 'timeout' }, waiting: waiting(result) } as const;
    const { result: late } = await converse(config, { ai: [], resumed });
    const output = outputOf(late);
    const after = await converse(config, { ai: [done], previousOutput: output });
    expect(resultsBefore(after.asked, 1)).toEqual([
      ['Not run: a person has to approve this call, and nobody decided in time.', true],
    ]);
    expect(after.result).toMatchObject({
      output: { steps: [{ tool_calls: [{ approval: { decision: 'timed_out', decided_by: null } }] }, {}] },
    });
  });

  it('asks about several calls of a turn together, and takes one and leaves another', async () => {
    const config = { tools: [CAREFUL] };
    const { result, questions } = await converse(config, { ai: [calling(refund(17), refund(18))] });
    expect(questions[0]?.fields).toEqual([
      { label: '1. refund', name: 'call 1', type: 'checkbox', value: 'on' },
      { label: '2. refund', name: 'call 2', type: 'checkbox', value: 'on' },
    ]);
    const after = await decide(config, result, { values: { 'call 1': false, 'call 2': true } });
    expect(after.starts).toMatchObject([{ input: { order: 18 } }]);
    expect(resultsBefore(after.asked, 1)).toEqual([
      ['Not run: a person rejected this call. They gave no reason.', true],
      [{ paid: true }, false],
    ]);
  });

  it('calls with the arguments that a person changed, and tells the model', async () => {
    const config = { tools: [{ ...CAREFUL, approval_edit: true }] };
    const { result, questions } = await converse(config, { ai: [calling(refund(17))] });
    const [field] = questions[0]?.fields ?? [];
    expect(field).toMatchObject({ name: 'arguments 1', type: 'paragraph', value: '{\n  "order": 17\n}' });
    expect(validateValue(field?.schema as JsonObject, { order: 'many' })).not.toEqual([]);
    const after = await decide(config, result, { values: { 'arguments 1': { order: 3 } } });
    expect(after.starts).toMatchObject([{ input: { order: 3 } }]);
    expect(after.asked[0]?.messages).toMatchObject([
      {},
      { role: 'assistant', toolCalls: [{ arguments: { order: 17 } }] },
      { role: 'tool', result: { arguments: { order: 3 }, result: { paid: true } } },
    ]);
    expect(after.result).toMatchObject({
      output: {
        steps: [{ tool_calls: [{ arguments: { order: 3 }, approval: { proposed: { order: 17 } } }] }, {}],
      },
    });
    // The check of arguments applies to those of a person as well.
    const wrong = await decide(config, result, { values: { 'arguments 1': { order: 'many' } } });
    expect(wrong.starts).toEqual([]);
  });

  it('takes no changed arguments unless the tool says so', async () => {
    const config = { tools: [CAREFUL] };
    const { result } = await converse(config, { ai: [calling(refund(17))] });
    const after = await decide(config, result, { values: { 'arguments 1': { order: 3 } } });
    expect(after.starts).toMatchObject([{ input: { order: 17 } }]);
  });

  it.each([
    ['{{args.order > 100}}', 17, 0],
    ['{{args.order > 100}}', 101, 1],
    ['{{trigger.data.nothing}}', 17, 1],
    ['false', 17, 0],
  ])('with the condition %s, order %d is asked about %d times', async (condition, order, times) => {
    const tools = [{ ...REFUND, approval: 'when', approval_when: condition }];
    const { questions, starts } = await converse({ tools }, { ai: [calling(refund(order)), done] });
    expect([questions.length, starts.length]).toEqual([times, 1 - times]);
  });

  it('needs a condition, if one is to decide', () => {
    const tools = [{ ...REFUND, approval: 'when' }];
    const servers = [{ name: 'shop', url: 'https://x.example', tools: ['a'], approval: 'when' }];
    const faults = aiAgent.findFaults?.({ tools, mcp_servers: servers });
    expect(faults?.map(({ pointer }) => pointer)).toEqual([
      '/tools/0/approval_when',
      '/mcp_servers/0/approval_when',
    ]);
  });

  it('shows no secrets, nothing invisible, and puts a secret back that nobody changed', async () => {
    const parameters = {
      type: 'object',
      properties: {
        pin: { type: 'string' },
        note: { type: 'string', format: 'password' },
        to: { type: 'string' },
      },
    };
    const tools = [{ ...CAREFUL, parameters, approval_edit: true }];
    const args = { pin: '1234', note: 'hush', to: 'a\u202eb' };
    const { result, questions } = await converse(
      { tools },
      { ai: [calling({ name: 'refund', arguments: args })] },
    );
    const { text = '', fields = [] } = questions[0] ?? {};
    expect(text).not.toMatch(/1234|hush|\u202e/);
    expect(text).toContain('"to": "a\\u202eb"');
    const changed = { ...JSON.parse(fields[0]?.value as string), to: 'c' };
    const after = await decide({ tools }, result, { values: { 'arguments 1': changed } });
    expect(after.starts).toMatchObject([{ input: { pin: '1234', note: 'hush', to: 'c' } }]);
  });

  it('asks nobody about calls that are not made, too many or too long', async () => {
    const wrong = { name: 'refund', arguments: { order: 'x' } };
    const long = { name: 'refund', arguments: { order: 1, why: 'x'.repeat(9_000) } };
    const many = Array.from({ length: 12 }, (_, index) => refund(index));
    const tools = [CAREFUL];
    const none = await converse({ tools }, { ai: [calling(wrong, long), done] });
    expect(none.questions).toEqual([]);
    expect(none.starts).toEqual([]);
    expect(resultsBefore(none.asked, 2)[1]?.[0]).toMatch(/too long to be judged/);
    const ten = await converse({ tools }, { ai: [calling(...many)] });
    expect(ten.questions[0]?.fields).toHaveLength(10);
    const after = await decide({ tools }, ten.result, {
      values: Object.fromEntries(many.map((_, index) => [`call ${index + 1}`, true])),
    });
    expect(after.starts).toHaveLength(10);
    expect((await converse({ tools, max_steps: 1 }, { ai: [calling(refund(1))] })).questions).toEqual([]);
  });

  it('keeps waiting when a decision is about another question', async () => {
    const { result } = await converse({ tools: [CAREFUL] }, { ai: [calling(refund(17))] });
    const payload = { question: '1.other', decision: 'approve' };
    const resumed = { signal: { kind: 'signal', payload }, waiting: waiting(result) } as const;
    const { result: still } = await converse({ tools: [CAREFUL] }, { ai: [], resumed });
    expect(still).toEqual({ ...result, consumedAiTokens: 0 });
  });

  it('sends its message; if that fails, the next attempt asks again without the model', async () => {
    const config = {
      tools: [CAREFUL],
      approval_title: 'May it call {{args.tools}}?',
      approval_notify: { type: 'chat.notify', config: { text: '{{args.tools}}: {{args.approval_url}}' } },
    };
    const refuse = async () => failure('mail_refused', verbatim('No.'), { retryable: true }) as never;
    const first = await converse(config, { ai: [calling(refund(17))], runTool: refuse });
    expect(first.result).toMatchObject({ kind: 'failure', retryable: true, output: { pending: {} } });
    const output = outputOf(first.result);
    const second = await converse(config, { ai: [], previousOutput: output });
    expect(second.result.kind).toBe('await_signal');
    expect(second.questions).toEqual(first.questions);
    expect(second.questions[0]?.title).toBe('May it call refund?');
    expect(second.orders).toMatchObject([
      { config: { text: `refund: ${APPROVAL_URL}` }, callKey: expect.stringMatching(/^notify\.1\./) },
    ]);
  });

  it('says in test mode which tools ask', async () => {
    const { result } = await converse({ tools: [LOOK_UP, CAREFUL] }, { ai: [], isTestMode: true });
    expect(result).toMatchObject({ output: { approvals: [{ tool: 'refund', approval: 'always' }] } });
  });

  it("doesn't count the wait towards the time limit, but what came before it", async () => {
    let now = Date.parse('2026-01-01T00:00:00.000Z');
    const config = { tools: [CAREFUL], total_timeout_ms: 1_000 };
    const answer = () => {
      now += 900;
      return calling(refund(17));
    };
    const { result } = await converse(config, { ai: answer, now: () => now });
    now += 3_600_000;
    const again = await decide(config, result, {}, { ai: answer, now: () => now });
    expect(again.result).toMatchObject({ kind: 'await_signal' });
    const late = await decide(config, again.result, {}, { ai: [done], now: () => now });
    expect(late.result).toMatchObject({ kind: 'failure', code: 'agent_timeout' });
  });
});
