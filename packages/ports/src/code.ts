import { availableParallelism } from 'node:os';
import {
  type CodeService,
  type DocumentService,
  isJsonArray,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  type LogLine,
  Meter,
  parseWork,
  ServiceError,
  stringifyWork,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Caller } from '@millrace/runtime/node-services';
import { finishInTurns } from '@millrace/runtime/turns';
import { CodePool, type PoolAnswer } from './code/pool.ts';
import type { CodeOutcome, ExactNumber } from './code/protocol.ts';
import { createDocumentService } from './documents.ts';

export interface CodeDeps {
  /** Maximum UTF-8 bytes of a result's JSON text. */
  readonly maxOutputBytes: number;
  /** Maximum concurrent runs; default: the number of processors, 2 to 4. */
  readonly maxThreads?: number;
}

/**
 * Runs authors' JavaScript in QuickJS, and Python in Pyodide, inside worker threads: nothing of the host is reachable, no run leaves anything for
 * the next, and code that doesn't end is killed. Numbers pass both ways without loss: an integer that doesn't fit in a
 * double is a BigInt inside, any other such number an object that acts as the nearest number and prints its digits; in Python, they are an int
 * and a Decimal. All of them are written back digit by digit.
 * @returns also the service that converts documents, in the same threads
 */
export function createCodeService(deps: CodeDeps): {
  service: (caller: Caller) => CodeService;
  documents: (caller: Caller) => DocumentService;
  close(): Promise<void>;
} {
  const pool = new CodePool(deps.maxThreads ?? Math.min(4, Math.max(2, availableParallelism())));
  return {
    service: (caller) => ({
      async run({ language, source, input, timeoutMs, memoryBytes }, signal) {
        const { maxOutputBytes } = deps;
        const exact = exactNumbersIn(input);
        const text = await finishInTurns(stringifyWork(input, new Meter()));
        const job = {
          kind: 'code',
          language,
          source,
          input: text,
          exact,
          timeoutMs,
          memoryBytes,
          maxOutputBytes,
        } as const;
        return resultOf(await pool.run(job, caller.organisationId, signal));
      },
    }),
    documents: createDocumentService({ pool, maxOutputBytes: deps.maxOutputBytes }),
    close: () => pool.close(),
  };
}

async function resultOf({
  outcome,
  log,
}: PoolAnswer<CodeOutcome>): Promise<{ value: JsonValue; log: readonly LogLine[] }> {
  if (outcome.kind === 'value') {
    return { value: await finishInTurns(parseWork(outcome.text, new Meter())), log };
  }
  if (outcome.kind === 'aborted') {
    throw new ServiceError('aborted', message('ports.code_stopped'), { retryable: true });
  }
  const lines = log.map(({ level, text }): JsonObject => ({ level, text }));
  throw new ServiceError(outcome.code, outcome.message, { details: { log: lines } });
}

/** The paths of a value's numbers that don't fit in a double. */
function exactNumbersIn(value: JsonValue): ExactNumber[] {
  const found: ExactNumber[] = [];
  const path: (string | number)[] = [];
  const walk = (part: JsonValue): void => {
    if (typeof part !== 'object' || part === null) return;
    if (isRawNumber(part)) {
      found.push([[...path], part.rawJSON, isWholeNumber(part.rawJSON)]);
    } else {
      for (const [name, item] of isJsonArray(part) ? part.entries() : Object.entries(part as JsonObject)) {
        if (typeof item !== 'object' || item === null) continue;
        path.push(name);
        walk(item);
        path.pop();
      }
    }
  };
  walk(value);
  return found;
}

/** Longer ones don't become BigInts: parsing digits takes quadratic time. */
const MAX_INTEGER_LENGTH = 10_000;

function isWholeNumber(digits: string): boolean {
  return digits.length <= MAX_INTEGER_LENGTH && /^-?\d+$/.test(digits);
}
