import type { Database, Queryable } from '@millrace/database/database';
import { formatTimestamp, type JsonObject, type JsonValue, parseJson, stringifyJson } from '@millrace/engine';
import { insertSignal } from '@millrace/runtime/signal-statements';
import { readDatabaseTime } from '@millrace/runtime/statements';
import { type FieldFault, type FormField, readFields, readQuestions } from '@millrace/triggers';
import { organisationPaused } from '../executions/startable.ts';
import {
  type CallbackRow,
  type Choice,
  type DecidedBy,
  findCallback,
  findOwnApproval,
  lockCallback,
  markDecided,
  markUsed,
  readCallback,
} from './store.ts';

/** The result of using a one-time URL. */
export type Use = 'accepted' | 'unknown' | 'used' | 'ended' | 'expired';

/** Why a URL can't currently be used; null if it can. */
export function obstacleOf(row: CallbackRow): Exclude<Use, 'accepted' | 'unknown'> | null {
  if (row.used_at !== null) return 'used';
  if (row.has_ended) return 'ended';
  return row.is_expired ? 'expired' : null;
}

/** The approval behind a link, in its current state. */
export async function findApproval(db: Queryable, tokenHash: Buffer): Promise<CallbackRow | undefined> {
  const [found] = await findCallback(db, 'approval', tokenHash);
  return found === undefined ? undefined : readCallback(db, found.id);
}

async function lock(
  tx: Queryable,
  [found]: readonly { readonly id: number }[],
): Promise<CallbackRow | undefined> {
  if (found === undefined) return undefined;
  await lockCallback(tx, found.id);
  return readCallback(tx, found.id);
}

/**
 * Accepts a callback: its body becomes the node's signal. Of several concurrent ones, one is accepted.
 * @throws ApiError `organisation_paused`
 */
export function useCallback(db: Database, tokenHash: Buffer, body: JsonValue): Promise<Use> {
  return db.transaction(async (tx) => {
    const row = await lock(tx, await findCallback(tx, 'callback', tokenHash));
    if (row === undefined) return 'unknown';
    const obstacle = obstacleOf(row);
    if (obstacle !== null) return obstacle;
    if (row.is_paused) throw organisationPaused();
    if (!(await send(tx, row, body))) return 'ended';
    await markUsed(tx, row.id);
    return 'accepted';
  });
}

export interface Decision {
  readonly choice: string;
  readonly comment: string;
  readonly decidedBy: DecidedBy;
  /** The entered values by field name. */
  readonly given?: JsonObject;
}

/** A decision that isn't accepted because its fields aren't filled in correctly. */
export interface InvalidAnswers {
  readonly faults: readonly FieldFault[];
}

/** The outcome of a decision. */
export type Decided = Use | 'no_such_choice' | InvalidAnswers;

/** Decides through the link in a message. */
export function decideByLink(db: Database, tokenHash: Buffer, decision: Decision): Promise<Decided> {
  return db.transaction(async (tx) => decide(tx, await findCallback(tx, 'approval', tokenHash), decision));
}

/**
 * Decides for a member of the organisation.
 * @param record called in the same transaction if the decision was accepted
 */
export function decideApproval(
  db: Database,
  organisationId: number,
  approvalId: number,
  decision: Decision,
  record?: (tx: Queryable, approval: CallbackRow) => Promise<void>,
): Promise<Decided> {
  return db.forOrganisation(organisationId, async (tx) => {
    const use = await decide(tx, await findOwnApproval(tx, organisationId, approvalId), decision);
    const row = use === 'accepted' ? await readCallback(tx, approvalId) : undefined;
    if (row !== undefined) await record?.(tx, row);
    return use;
  });
}

async function decide(
  tx: Queryable,
  found: readonly { readonly id: number }[],
  { choice, comment, decidedBy, given = {} }: Decision,
): Promise<Decided> {
  const row = await lock(tx, found);
  if (row === undefined) return 'unknown';
  const obstacle = obstacleOf(row);
  if (obstacle !== null) return obstacle;
  if (row.is_paused) throw organisationPaused();
  if (!choicesOf(row).some(({ id }) => id === choice)) return 'no_such_choice';
  const fields = fieldsOf(row).filter(({ only_with: only = choice }) => only === choice);
  const { values, faults } = readFields(fields, given);
  if (faults.length > 0) return { faults };
  const decidedAt = new Date(await readDatabaseTime(tx));
  const decided: JsonObject = {
    decision: choice,
    comment,
    decided_by: { ...decidedBy },
    decided_at: formatTimestamp(decidedAt),
    ...(fields.length === 0 ? {} : { values }),
    ...(row.question === '' ? {} : { question: row.question }),
  };
  if (!(await send(tx, row, decided))) return 'ended';
  const decidedByJson = stringifyJson({ ...decidedBy });
  const answersJson = fields.length === 0 ? null : stringifyJson(values);
  await markDecided(tx, row.id, { choice, comment, decidedByJson, answersJson, decidedAt });
  return 'accepted';
}

/** The choices of an approval, in the order its author wrote them. */
export function choicesOf({ choices }: Pick<CallbackRow, 'choices'>): Choice[] {
  return parseJson(choices);
}

/** The fields that an approval asks for besides the choice, in their author's order. */
export function fieldsOf({ fields }: Pick<CallbackRow, 'fields'>): readonly FormField[] {
  return fields === null ? [] : (readQuestions(parseJson(fields) as JsonValue) ?? []);
}

async function send(tx: Queryable, row: CallbackRow, payload: JsonValue): Promise<boolean> {
  const signal = {
    nodeId: row.node_id,
    iteration: row.iteration,
    payloadJson: stringifyJson(payload),
  };
  return (await insertSignal(tx, row.execution_id, signal)).length > 0;
}

/** A string that someone entered: trimmed, cut and safe for a text column. */
export function clean(text: string, maxLength: number): string {
  const storable = text.toWellFormed().replaceAll('\u0000', '\ufffd');
  return Array.from(storable.trim()).slice(0, maxLength).join('');
}
