import {
  type AiToolCall,
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NodeSignal,
} from '@millrace/engine';
import { sha256Hex } from '@millrace/node-kit/digest';
import { validatorOf } from '@millrace/node-kit/validator';
import { type Static, Type } from 'typebox';
import { usageSchema } from './steps.ts';

const decisionSchema = Type.Object({
  choice: Type.Enum(['approve', 'reject', 'timeout'], { type: 'string' }),
  reason: Type.String(),
  // As approvals store it; null when nobody decided in time.
  decided_by: Type.Unsafe<JsonValue>({}),
  decided_at: Type.Unsafe<JsonValue>({}),
  // What was entered, by the names of the fields.
  values: Type.Unsafe<JsonObject>({ type: 'object' }),
});

/** What people decided about the calls of a turn. */
export type TurnDecision = Static<typeof decisionSchema>;

const pendingSchema = Type.Object({
  text: Type.String(),
  usage: usageSchema,
  tool_calls: Type.Array(
    Type.Object({
      name: Type.String(),
      arguments: Type.Unsafe<JsonObject>({ type: 'object' }),
      // The model's mistake, if its arguments couldn't be read.
      problem: Type.Optional(Type.String()),
      // Whether it is asked about; it then has this number in the question.
      asked: Type.Optional(Type.Integer()),
      // Whether its arguments can be changed.
      editable: Type.Optional(Type.Boolean()),
    }),
  ),
  question: Type.String(),
  expires_at: Type.String(),
  // How long the conversation had taken: waiting for people doesn't count.
  elapsed_ms: Type.Number(),
  decision: Type.Optional(decisionSchema),
});

/**
 * A turn of the model whose calls wait for a decision, as in the node's output: none of them has been made. After the decision, the node goes
 * on from here without asking the model again.
 */
export type PendingTurn = Static<typeof pendingSchema>;

const pendingValidator = validatorOf(pendingSchema);

/** The turn that waits, from the output of an earlier attempt or of the wait; null for none. */
export function readPending(output: JsonObject | null): PendingTurn | null {
  const pending: unknown = output?.pending;
  return pendingValidator().Check(pending) ? pending : null;
}

/** Names the question about a turn: the same if the node starts over and the model decides the same. */
export async function questionKeyOf(step: number, calls: readonly Omit<AiToolCall, 'id'>[]): Promise<string> {
  const digest = await sha256Hex(canonicalJson(calls.map(({ name, arguments: args }) => [name, args])));
  return `${step}.${digest.slice(0, 32)}`;
}

/** What a signal decides about the turn; null if it is about another question of the node. */
export function decisionOf(signal: NodeSignal, question: string): TurnDecision | null {
  if (signal.kind === 'timeout') {
    return { choice: 'timeout', reason: '', decided_by: null, decided_at: null, values: {} };
  }
  const { payload } = signal;
  if (!isJsonObject(payload) || payload.question !== question) return null;
  const { decision, comment, decided_by: by = null, decided_at: at = null, values } = payload;
  return {
    // Whatever isn't an approval is none.
    choice: decision === 'approve' ? 'approve' : 'reject',
    reason: typeof comment === 'string' ? comment : '',
    decided_by: by,
    decided_at: at,
    values: isJsonObject(values ?? null) ? (values as JsonObject) : {},
  };
}
