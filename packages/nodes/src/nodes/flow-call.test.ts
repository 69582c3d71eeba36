import { type ChildResult, ServiceError, type WorkflowService } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { runNode, TEST_NOW_MS } from '@millrace/node-kit/testing';
import { fakeWaits } from '@millrace/node-kit/testing-waits';
import { describe, expect, it } from 'vitest';
import { flowCall } from './flow-call.ts';

type Order = Parameters<WorkflowService['start']>[0];

function workflows(child: Partial<ChildResult> = {}): { orders: Order[]; service: WorkflowService } {
  const orders: Order[] = [];
  const service: WorkflowService = {
    ...fakeWaits.workflows,
    async start(order) {
      orders.push(order);
      return { executionId: 18, workflowVersion: 3 };
    },
    result: async (executionId) => ({
      executionId,
      status: 'completed',
      output: {},
      error: null,
      consumedAiTokens: 0,
      ...child,
    }),
  };
  return { orders, service };
}

const ended = (status: string) => ({
  signal: { kind: 'signal', payload: { execution_id: 18, status } } as const,
  waiting: { execution_id: 18 },
});

describe('flow.call', () => {
  it('starts a child and waits for it, however long it takes', async () => {
    const { orders, service } = workflows();
    const config = { workflow_id: 12, input: [1] };
    const { result } = await runNode(flowCall, { config, services: { workflows: service } });
    expect(orders).toEqual([{ workflowId: 12, input: [1], waits: true, callKey: 'call' }]);
    expect(result).toMatchObject({ kind: 'await_signal', untilMs: null, output: { execution_id: 18 } });
  });

  it('waits at most as long as configured', async () => {
    const config = { workflow_id: 12, timeout_s: 60 };
    const { result } = await runNode(flowCall, { config });
    expect(result).toMatchObject({ kind: 'await_signal', untilMs: TEST_NOW_MS + 60_000 });
    const waiting = { execution_id: 18 };
    const over = await runNode(flowCall, { config, resumed: { signal: { kind: 'timeout' }, waiting } });
    expect(over.result).toMatchObject({ kind: 'failure', code: 'child_timeout', output: waiting });
  });

  it('keeps waiting, no longer than before, when another child ends', async () => {
    const config = { workflow_id: 12, timeout_s: 60 };
    const waiting = { execution_id: 19, expires_at: '2026-01-01T00:00:07.000Z' };
    const { result } = await runNode(flowCall, { config, resumed: { ...ended('failed'), waiting } });
    expect(result).toMatchObject({ kind: 'await_signal', untilMs: TEST_NOW_MS + 7_000, output: waiting });
    const forever = { ...ended('failed'), waiting: { execution_id: 19 } };
    const patient = await runNode(flowCall, { config: { workflow_id: 12 }, resumed: forever });
    expect(patient.result).toMatchObject({ kind: 'await_signal', untilMs: null });
  });

  it('starts one without waiting for it', async () => {
    const { orders, service } = workflows();
    const config = { workflow_id: 12, wait: false };
    const { result } = await runNode(flowCall, { config, services: { workflows: service } });
    expect(orders).toMatchObject([{ waits: false, input: {} }]);
    expect(result).toMatchObject({ kind: 'success', output: { execution_id: 18, workflow_version: 3 } });
  });

  it('starts another one after a failure, and the same one after a crash', async () => {
    const { orders, service } = workflows();
    const options = { config: { workflow_id: 12 }, services: { workflows: service }, attempt: 2 };
    await runNode(flowCall, options);
    await runNode(flowCall, { ...options, previousOutput: { execution_id: 17, status: 'failed' } });
    expect(orders.map(({ callKey }) => callKey)).toEqual(['call', 'call after 17']);
  });

  it.each([
    ['completed', { output: { total: 42.5 } }, { kind: 'success', output: { output: { total: 42.5 } } }],
    [
      'failed',
      { error: { code: 'broken', message: verbatim('it broke'), nodeId: 'a' } },
      { kind: 'failure', code: 'child_failed', retryable: true, output: { error: { code: 'broken' } } },
    ],
    ['cancelled', {}, { kind: 'failure', code: 'child_cancelled', retryable: false }],
  ] as const)("reports the child's end: %s", async (status, child, expected) => {
    const { service } = workflows({ ...child, status });
    const config = { workflow_id: 12 };
    const options = { config, services: { workflows: service }, resumed: ended(status) };
    expect((await runNode(flowCall, options)).result).toMatchObject(expected);
  });

  it('requires a workflow', async () => {
    const { result } = await runNode(flowCall, { config: { workflow_id: 0 } });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
  });

  it("fails with the service's reason", async () => {
    const start = () => Promise.reject(new ServiceError('workflow_archived', verbatim('It is archived.')));
    const services = { workflows: { ...fakeWaits.workflows, start } };
    const { result } = await runNode(flowCall, { config: { workflow_id: 12 }, services });
    expect(result).toMatchObject({ kind: 'failure', code: 'workflow_archived', retryable: false });
  });
});
