import {
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  Meter,
  type SchemaError,
  schemaTooExpensive,
  stepsToRead,
  stringifyJson,
  stringifyWork,
  validateWithin,
} from '@millrace/engine';
import { finishInTurns } from '@millrace/runtime/turns';
import { checkPool } from './check-pool.ts';

/** Larger values and schemas are checked in a thread: checking begins with a copy of each, which can't be interrupted. */
const READ_STEPS = 20_000;
/** So are those whose check takes longer: about ten milliseconds of the main thread. */
const CHECK_STEPS = 50_000;
/** The most steps that a check may take are a second or two; this is for what isn't counted, and for a machine that does much else. */
const TIMEOUT_MS = 60_000;

const never = new AbortController().signal;

/**
 * The faults of an input according to its workflow's input schema; empty without one. What takes long takes place in a thread, in which
 * organisations take turns.
 */
export async function checkInput(
  schema: JsonSchema | null,
  input: JsonValue,
  organisationId: number,
): Promise<readonly SchemaError[]> {
  if (schema === null) return [];
  return checkAtOnce(schema, input) ?? (await checkInThread(schema, input, organisationId));
}

/** Null if that would hold the main thread for too long. */
function checkAtOnce(schema: JsonSchema, input: JsonValue): readonly SchemaError[] | null {
  // A schema is JSON; its type says less so that nodes can write theirs as they like.
  const steps = stepsToRead(input, READ_STEPS) + stepsToRead(schema as JsonObject, READ_STEPS);
  return steps < READ_STEPS ? validateWithin(schema, input, CHECK_STEPS) : null;
}

async function checkInThread(
  schema: JsonSchema,
  input: JsonValue,
  organisationId: number,
): Promise<readonly SchemaError[]> {
  const value = await finishInTurns(stringifyWork(input, new Meter()));
  const text = stringifyJson(schema as JsonObject);
  const job = { kind: 'schema', schema: text, value, timeoutMs: TIMEOUT_MS } as const;
  const { outcome } = await checkPool.run(job, organisationId, never);
  return outcome.kind === 'checked' ? outcome.faults : schemaTooExpensive();
}
