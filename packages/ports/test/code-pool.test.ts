import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, expect, it, vi } from 'vitest';
import { CodePool } from '../src/code/pool.ts';
import type { CodeJob } from '../src/code/protocol.ts';
import { NATIVE_LOOP } from './code-sandbox.ts';

const MIB = 1024 * 1024;
/** For busy machines. */
const PATIENT = { timeout: 60_000 };
const NEVER = new AbortController().signal;

function job(source: string, more: Partial<CodeJob> = {}): CodeJob {
  const limits = {
    language: 'javascript',
    timeoutMs: 20_000,
    memoryBytes: 64 * MIB,
    maxOutputBytes: 16 * MIB,
  } as const;
  return { kind: 'code', source, input: '{}', exact: [], ...limits, ...more };
}

const answer = (text: string): object => ({ outcome: { kind: 'value', text }, log: [] });

async function withPool(
  test: (pool: CodePool) => Promise<void>,
  { maxThreads = 1, idleMs = 60_000 } = {},
): Promise<void> {
  const pool = new CodePool(maxThreads, idleMs);
  try {
    await test(pool);
  } finally {
    await pool.close();
  }
}

/** Of all threads of this process, as the kernel has it. */
function nicenessOfThreads(): number[] {
  return readdirSync('/proc/self/task').map((id) => {
    const [, stat = ''] = readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ');
    return Number(stat.split(' ')[16]);
  });
}

describe('threads', () => {
  it('a thread that dies only fails its own run; another replaces it', () =>
    withPool(async (pool) => {
      // No memory of that size can be allocated: the thread ends with an uncaught error.
      const dying = pool.run(job('return 1', { memoryBytes: -64 * MIB }), 1, NEVER);
      const waiting = pool.run(job('return 2'), 1, NEVER);
      await expect(dying).rejects.toThrow('WebAssembly.Memory');
      expect(await waiting).toEqual(answer('2'));
      await expect(pool.run(job('return 1', { memoryBytes: -64 * MIB }), 1, NEVER)).rejects.toThrow('Memory');
      expect(await pool.run(job('return 3'), 1, NEVER)).toEqual(answer('3'));
      await vi.waitFor(() => expect(pool.threadCount).toBe(1), PATIENT);
    }));

  it.skipIf(process.platform !== 'linux')(
    'a nice pool holds back its own thread, and nothing else',
    async () => {
      const before = getPriority();
      const pool = new CodePool(1, 60_000, 7);
      try {
        await pool.run(job('return 1'), 1, NEVER);
        expect(nicenessOfThreads().filter((niceness) => niceness === before + 7)).toHaveLength(1);
        expect(getPriority()).toBe(before);
      } finally {
        await pool.close();
      }
    },
  );

  it('a killed thread is replaced, whatever killed it', () =>
    withPool(async (pool) => {
      const controller = new AbortController();
      const late = pool.run(job(`return ${NATIVE_LOOP}`, { timeoutMs: 50 }), 1, NEVER);
      const cancelled = pool.run(job('for (;;);'), 1, controller.signal);
      const last = pool.run(job('return 1'), 1, NEVER);
      expect((await late).outcome).toMatchObject({ kind: 'failure', code: 'code_timeout' });
      controller.abort();
      expect((await cancelled).outcome).toEqual({ kind: 'aborted' });
      expect(await last).toEqual(answer('1'));
    }));

  it('there are never more than the maximum, and all waiting runs get their turn', () =>
    withPool(
      async (pool) => {
        const counts: number[] = [];
        const runs = Array.from({ length: 40 }, async (_, index) => {
          const ended = await pool.run(job(`return ${index}`), index % 3, NEVER);
          counts.push(pool.threadCount);
          return ended;
        });
        expect(await Promise.all(runs)).toEqual(runs.map((_, index) => answer(String(index))));
        expect(Math.max(...counts)).toBe(2);
        expect(pool.waitingCount).toBe(0);
      },
      { maxThreads: 2 },
    ));
});

describe('memory', () => {
  it('an idle thread is ended, and started again when needed', () =>
    withPool(
      async (pool) => {
        expect(await pool.run(job('return 1'), 1, NEVER)).toEqual(answer('1'));
        await vi.waitFor(() => expect(pool.threadCount).toBe(0), PATIENT);
        expect(await pool.run(job('return 2'), 1, NEVER)).toEqual(answer('2'));
      },
      { idleMs: 1 },
    ));

  it("an idle timeout that has passed doesn't end the next run", () =>
    withPool(
      async (pool) => {
        await pool.run(job('return 1'), 1, NEVER);
        const { outcome } = await pool.run(job('for (;;);', { timeoutMs: 300 }), 1, NEVER);
        expect(outcome).toMatchObject({ kind: 'failure', code: 'code_timeout' });
      },
      { idleMs: 100 },
    ));

  it.each([
    [
      'objects',
      job('const a = []; for (let i = 0; i < 1e6; i++) a.push({ i }); return 1', { memoryBytes: 256 * MIB }),
    ],
    ['a text that comes in', job('return 1', { input: JSON.stringify('x'.repeat(15 * MIB)) })],
    ['a text that goes out', job('return "x".repeat(15 * 1024 * 1024)')],
  ])('a thread that needed much for %s is not kept with its memory', (_title, large) =>
    withPool(async (pool) => {
      expect((await pool.run(large, 1, NEVER)).outcome.kind).toBe('value');
      await vi.waitFor(() => expect(pool.threadCount).toBe(0), PATIENT);
      expect(await pool.run(job('return 2'), 1, NEVER)).toEqual(answer('2'));
    }),
  );
});
