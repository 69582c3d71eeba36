import { type CodeService, failure, type JsonValue, ServiceError, success } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { saying } from '@millrace/messages/testing';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { coreCode } from './core-code.ts';

type Order = Parameters<CodeService['run']>[0];

/** A sandbox that records its input and returns `value`. */
function sandbox(value: JsonValue, log: Awaited<ReturnType<CodeService['run']>>['log'] = []) {
  const orders: Order[] = [];
  const code: CodeService = {
    async run(order) {
      orders.push(order);
      return { value, log };
    },
  };
  return { code, orders };
}

describe('core.code', () => {
  it('passes code, input and limits to the sandbox', async () => {
    const { code, orders } = sandbox([1]);
    const config = {
      code: 'return [input.a]',
      input: { a: '{{trigger.data.n}}' },
      timeout_ms: 250,
      memory_mb: 8,
    };
    const { result } = await runNode(coreCode, { config, trigger: { n: 1 }, services: { code } });
    expect(result).toEqual(success({ result: [1] }));
    expect(orders).toEqual([
      {
        language: 'javascript',
        source: 'return [input.a]',
        input: { a: 1 },
        timeoutMs: 250,
        memoryBytes: 8 * 1024 * 1024,
      },
    ]);
  });

  it('has default limits', async () => {
    const { code, orders } = sandbox(null);
    await runNode(coreCode, { config: { code: 'return null' }, services: { code } });
    expect(orders).toMatchObject([{ input: {}, timeoutMs: 5_000, memoryBytes: 64 * 1024 * 1024 }]);
  });

  it('says which language it is', async () => {
    const { code, orders } = sandbox(null);
    const config = { language: 'python', code: 'return f"\\{{item}}"' };
    await runNode(coreCode, { config, services: { code } });
    expect(orders).toMatchObject([{ language: 'python', source: 'return f"{{item}}"' }]);
  });

  it("doesn't turn data into code", async () => {
    const { code, orders } = sandbox(null);
    const config = { code: 'return "{{trigger.data.name}}"' };
    const { result } = await runNode(coreCode, {
      config,
      trigger: { name: '" + 1 + "' },
      services: { code },
    });
    expect(result).toMatchObject({ kind: 'failure', code: 'code_error', retryable: false });
    expect(result).toMatchObject({ message: saying('config.input') });
    expect(orders).toEqual([]);
  });

  it.each(['return "\\{{trigger.data.name}}"', 'return `${{ a: 1 }.a}`', 'if (input) {{ }}'])(
    'runs %s as written',
    async (source) => {
      const { code, orders } = sandbox(null);
      const context = { config: { code: source }, services: { code } };
      expect((await runNode(coreCode, context)).result.kind).toBe('success');
      expect(orders[0]?.source).toBe(source);
    },
  );

  it('keeps the console output', async () => {
    const log = [{ level: 'warn', text: 'hm' }] as const;
    const { code } = sandbox(1, log);
    const { result } = await runNode(coreCode, { config: { code: 'return 1' }, services: { code } });
    expect(result).toEqual(success({ result: 1 }, { log }));
  });

  it.each(['code_error', 'code_timeout', 'code_memory', 'code_output_too_large'])(
    'fails permanently with %s, with what was logged before',
    async (failureCode) => {
      const log = [{ level: 'info', text: 'before' }] as const;
      const code: CodeService = {
        run: async () => {
          throw new ServiceError(failureCode, verbatim('why'), { details: { log } });
        },
      };
      const { result } = await runNode(coreCode, { config: { code: 'return 1' }, services: { code } });
      expect(result).toEqual(failure(failureCode, verbatim('why'), { log }));
    },
  );

  it("passes on errors that are not the code's", async () => {
    const code: CodeService = {
      run: async () => {
        throw new Error('defect');
      },
    };
    await expect(runNode(coreCode, { config: { code: 'return 1' }, services: { code } })).rejects.toThrow(
      'defect',
    );
  });

  it.each([
    { code: '' },
    { code: 7 },
    { code: 'return 1', timeout_ms: 60_001 },
    { code: 'return 1', timeout_ms: 0 },
    { code: 'return 1', memory_mb: 257 },
    {},
  ])('refuses %j', async (config) => {
    const { code, orders } = sandbox(null);
    const { result } = await runNode(coreCode, { config, services: { code } });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
    expect(orders).toEqual([]);
  });
});
