import type { LogLine } from '@millrace/engine';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flowOf } from '../../runtime/test/worker/flows.ts';
import {
  type ExecutionBody,
  startWorkingService,
  type WorkingService,
} from '../../runtime/test/worker/service-with-worker.ts';
import { createCodeService } from '../src/code.ts';
import { NATIVE_LOOP } from './code-sandbox.ts';

const MIB = 1024 * 1024;

let service: WorkingService;
const code = createCodeService({ maxOutputBytes: 2 * MIB, maxThreads: 2 });
/** Executions whose code was passed to the sandbox. */
const started = new Set<number>();
beforeAll(async () => {
  service = await startWorkingService({
    limits: { nodeOutputBytes: 2 * MIB },
    services: {
      code(caller) {
        started.add(caller.executionId);
        return code.service(caller);
      },
    },
  });
});
afterAll(async () => {
  await service.stop();
  await code.close();
});

/** Starts a flow of one code node and returns the execution's id. */
async function start(source: string, config: object = {}): Promise<number> {
  const flow = flowOf([['code', 'core.code', { config: { code: source, ...config } }]], ['start>code']);
  return service.execute(await service.createWorkflow(flow));
}

async function ended(source: string, config: object = {}): Promise<ExecutionBody> {
  return service.finished(await start(source, config));
}

const logOf = ({ node_outputs }: ExecutionBody): unknown =>
  (node_outputs.code as { log?: readonly LogLine[] } | undefined)?.log;

describe('core.code in an execution', () => {
  it.each([
    ['it succeeds', 'return 1', 'completed', undefined],
    ['it throws', 'throw new Error("no")', 'failed', 'code_error'],
    ['its time is up', 'for (;;);', 'failed', 'code_timeout'],
    ['its thread is killed', NATIVE_LOOP, 'failed', 'code_timeout'],
    ['its memory is used up', 'const a = []; for (;;) a.push({})', 'failed', 'code_memory'],
    ['its result is too large', 'return "x".repeat(3e6)', 'failed', 'code_output_too_large'],
    // The result alone fits, the output around it does not.
    ['the output is too large', `return "x".repeat(${2 * MIB - 2})`, 'failed', 'output_too_large'],
  ])('the console is in the node record when %s', async (_title, end, status, errorCode) => {
    // Long enough for the first line, also on a busy machine.
    const limits = errorCode === 'code_timeout' ? { timeout_ms: 1_000 } : { timeout_ms: 60_000 };
    const execution = await ended(`console.warn("before", { a: 1 }); ${end}`, limits);
    expect([execution.status, execution.error?.code]).toEqual([status, errorCode]);
    expect(logOf(execution)).toEqual([{ level: 'warn', text: 'before { a: 1 }' }]);
  });

  it('stores values that databases reject', async () => {
    const text = 'a\u0000b \ud800 \ud83d\ude00';
    const failed = await ended(
      'const text = "a\\u0000b \\ud800 \\ud83d\\ude00"; console.log(text); throw new Error(text)',
    );
    expect(failed.error).toMatchObject({ code: 'code_error', node_id: 'code' });
    expect(failed.error?.message).toContain(`Error: ${text} (line 1`);
    expect(logOf(failed)).toEqual([{ level: 'info', text }]);
  });

  it('a cancelled execution returns its thread at once', async () => {
    const limits = { timeout_ms: 60_000 };
    const ids = [await start('for (;;);', limits), await start(`return ${NATIVE_LOOP}`, limits)];
    await expect.poll(() => ids.every((id) => started.has(id))).toBe(true);
    // Both threads are busy now, and this one waits for a free one.
    const waiting = await start('return "after"');
    for (const id of ids) {
      const { status } = await service.api('POST', `/executions/${id}/cancel`, { key: service.key });
      expect(status).toBe(200);
    }
    const after = await service.finished(waiting);
    expect(after.node_outputs.code?.output).toEqual({ result: 'after' });
    for (const id of ids) expect((await service.read(id)).status).toBe('cancelled');
    await expect.poll(() => service.worker.runningIds()).toEqual([]);
  });

  it('bombs delay neither other executions nor heartbeats', async () => {
    const sources = ['for (;;);', `return ${NATIVE_LOOP}`];
    const bombs = await Promise.all(sources.map((source) => start(source, { timeout_ms: 60_000 })));
    await expect.poll(() => bombs.every((id) => started.has(id))).toBe(true);
    const workflowId = await service.createWorkflow(RUNNABLE_FLOW);
    for (let round = 0; round < 20; round++) {
      expect((await service.finished(await service.execute(workflowId))).status).toBe('completed');
    }
    const heartbeats = new Set<string>();
    const countHeartbeats = async (): Promise<number> => {
      const rows = await service.database.db.query<{ at: Date }>('SELECT heartbeat_at AS at FROM workers');
      for (const { at } of rows) heartbeats.add(at.toISOString());
      return heartbeats.size;
    };
    await expect.poll(countHeartbeats).toBeGreaterThan(3);
    for (const id of bombs) {
      expect((await service.read(id)).status).toBe('running');
      await service.api('POST', `/executions/${id}/cancel`, { key: service.key });
    }
    await expect.poll(() => service.worker.runningIds()).toEqual([]);
  });
});
