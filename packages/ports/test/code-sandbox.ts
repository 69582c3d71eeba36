import { type CodeLanguage, type JsonValue, type LogLine, ServiceError } from '@millrace/engine';
import type { Caller } from '@millrace/runtime/node-services';
import { type CodeDeps, createCodeService } from '../src/code.ts';

interface RunOptions {
  readonly language?: CodeLanguage;
  readonly input?: JsonValue;
  readonly timeoutMs?: number;
  readonly memoryMib?: number;
  readonly signal?: AbortSignal;
  /** The organisation. */
  readonly owner?: number;
}

export interface Sandbox {
  run(source: string, options?: RunOptions): Promise<{ value: JsonValue; log: readonly LogLine[] }>;
  resultOf(source: string, options?: RunOptions): Promise<JsonValue>;
  /** The error it failed with; fails the test if it didn't fail as code does. */
  failureOf(source: string, options?: RunOptions): Promise<ServiceError>;
  close(): Promise<void>;
}

/** The code service, with limits that the tests' well-behaved code never reaches. */
export function startSandbox(deps: CodeDeps): Sandbox {
  const services = createCodeService(deps);
  const run: Sandbox['run'] = (source, options = {}) => {
    const { language = 'javascript', input = {}, timeoutMs = 20_000, memoryMib = 64, owner = 1 } = options;
    const order = { language, source, input, timeoutMs, memoryBytes: memoryMib * 1024 * 1024 };
    const caller = { organisationId: owner } as Caller;
    return services.service(caller).run(order, options.signal ?? new AbortController().signal);
  };
  return {
    run,
    resultOf: async (source, options) => (await run(source, options)).value,
    async failureOf(source, options) {
      const ended: unknown = await run(source, options).catch((error: unknown) => error);
      if (ended instanceof ServiceError) return ended;
      throw new Error(`it did not fail as code does: ${JSON.stringify(ended)}`, { cause: ended });
    },
    close: () => services.close(),
  };
}

/** Runs inside one call of the engine's own C code, where the time limit is never checked. */
export const NATIVE_LOOP = 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)';
