import { type CodeService, type JsonValue, type LogLine, parseJson, ServiceError } from '@millrace/engine';
import { verbatim } from '@millrace/messages';

/** Compiles a string to an async function. */
const AsyncFunction = (async () => null).constructor as new (
  ...names: string[]
) => (...values: unknown[]) => Promise<unknown>;

/** Runs the code of our own node tests: directly, without a sandbox and without limits. */
export const plainCode: CodeService = {
  async run({ source, input }) {
    const log: LogLine[] = [];
    const write =
      (level: LogLine['level']) =>
      (...values: unknown[]): void => {
        log.push({ level, text: values.map(String).join(' ') });
      };
    const sandboxConsole = {
      log: write('info'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      debug: write('debug'),
    };
    try {
      const value = await new AsyncFunction('input', 'console', source)(
        structuredClone(input),
        sandboxConsole,
      );
      return { value: parseJson(JSON.stringify(value ?? null)), log };
    } catch (error) {
      const lines: JsonValue = log.map(({ level, text }) => ({ level, text }));
      throw new ServiceError('code_error', verbatim(String(error)), { details: { log: lines } });
    }
  },
};
