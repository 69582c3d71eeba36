import { createHash } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { type ExecutionStatus, type JsonText, stringifyJson } from '@millrace/engine';

/** Turns that a page shows after a reload; older ones stay until their executions are deleted. */
export const SHOWN_TURNS = 100;
/** Messages of one session that may wait for their answers at once. */
export const MAX_OPEN_TURNS = 3;
/** Longer answers are cut on the page; the execution has all of it. */
const MAX_ANSWER_CHARS = 64_000;

/** A session as stored: the hash of a secret that only its browser has. */
export interface SessionKey {
  readonly workflowId: number;
  readonly organisationId: number;
  readonly hash: Buffer;
}

/** What is stored of a session's secret. */
export function hashOfSession(secret: string): Buffer {
  return createHash('sha256').update(`chat session ${secret}`).digest();
}

/** The name by which workflows know a session. It opens nothing: the secret can't be found from it. */
export function sessionIdOf(hash: Buffer): string {
  return hash.toString('hex').slice(0, 32);
}

/** A file that came with a message. */
export type SentFile = { readonly name: string; readonly size: number };

/** A file that the visitor can save. */
export type AnswerFile = SentFile & { readonly id: string; readonly type: string };

/** A message and what became of it. */
export interface TurnRow {
  readonly number: number;
  readonly execution_id: number;
  readonly message: string;
  /** Both null until its execution has ended and somebody has read it. */
  readonly outcome: 'answered' | 'failed' | null;
  readonly answer: string | null;
  /** What came with the message; null for nothing. */
  readonly files: JsonText<SentFile[]> | null;
  /** What its answer gives the visitor; null for nothing, and until it is known. */
  readonly answer_files: JsonText<AnswerFile[]> | null;
  /** Of the execution, as is its version. */
  readonly status: ExecutionStatus;
  readonly workflow_version: number;
}

const TURN_COLUMNS = `t.number, t.execution_id, t.message, t.outcome, t.answer, t.files, t.answer_files,
  e.status, e.workflow_version`;

/** The last turns of a session, oldest first. */
export async function listTurns(tx: Queryable, session: SessionKey): Promise<TurnRow[]> {
  const rows = await tx.query<TurnRow>(
    `SELECT ${TURN_COLUMNS} FROM chat_turns t JOIN executions e ON e.id = t.execution_id
     WHERE t.workflow_id = $1 AND t.session_hash = $2 AND t.organisation_id = $3
     ORDER BY t.number DESC LIMIT $4`,
    [session.workflowId, session.hash, session.organisationId, SHOWN_TURNS],
    'list_chat_turns',
  );
  return rows.toReversed();
}

/** A turn with what its node has written so far; null where nothing is. */
export interface FollowedTurn extends TurnRow {
  readonly written: string | null;
}

/** One turn of a session. */
export async function findTurn(
  tx: Queryable,
  session: SessionKey,
  number: number,
): Promise<FollowedTurn | undefined> {
  const [row] = await tx.query<FollowedTurn>(
    `SELECT ${TURN_COLUMNS}, s.text AS written
     FROM chat_turns t JOIN executions e ON e.id = t.execution_id
     LEFT JOIN chat_streams s ON s.execution_id = t.execution_id AND s.text <> ''
     WHERE t.workflow_id = $1 AND t.session_hash = $2 AND t.organisation_id = $3 AND t.number = $4`,
    [session.workflowId, session.hash, session.organisationId, number],
    'find_chat_turn',
  );
  return row;
}

/** A message that is about to start an execution. */
export interface NewTurn {
  /** Made by the page, so that the same message sent twice is one. */
  readonly messageId: string;
  readonly message: string;
  readonly files: readonly SentFile[];
  readonly executionId: number;
  /** Nodes whose text the visitor may see while it is written. */
  readonly liveNodeIds: readonly string[];
}

/** What limits the sessions of one chat. */
export interface SessionLimits {
  readonly sessionsPerHour: number;
  readonly turnsPerSession: number;
}

export type BeganTurn =
  | { readonly kind: 'new'; readonly number: number }
  /** The message was sent before. */
  | { readonly kind: 'known'; readonly number: number }
  | { readonly kind: 'refused'; readonly because: 'sessions' | 'turns' | 'open' };

/**
 * Records a message, once for each id: the caller stores its start in the same transaction. Messages of one session wait for
 * each other.
 */
export async function beginTurn(
  tx: Queryable,
  session: SessionKey,
  turn: NewTurn,
  limits: SessionLimits,
): Promise<BeganTurn> {
  const { workflowId, organisationId, hash } = session;
  const messageHash = createHash('sha256').update(`chat message ${turn.messageId}`).digest();
  const isKnown = await lockSession(tx, session);
  if (!isKnown) {
    if (limits.sessionsPerHour > 0 && (await countSessions(tx, workflowId)) >= limits.sessionsPerHour)
      return { kind: 'refused', because: 'sessions' };
    await tx.query(
      `INSERT INTO chat_sessions (workflow_id, session_hash, organisation_id) VALUES ($1, $2, $3)
       ON CONFLICT DO NOTHING`,
      [workflowId, hash, organisationId],
      'insert_chat_session',
    );
    await lockSession(tx, session);
  }
  const [state] = await tx.query<{ turns: number; open: number; known: number | null }>(
    `SELECT s.turns, (SELECT number FROM chat_turns t WHERE t.workflow_id = $1 AND t.session_hash = $2
         AND t.message_hash = $3) AS known,
       (SELECT count(*)::integer FROM chat_turns t JOIN executions e ON e.id = t.execution_id
        WHERE t.workflow_id = $1 AND t.session_hash = $2 AND t.outcome IS NULL AND e.completed_at IS NULL) AS open
     FROM chat_sessions s WHERE s.workflow_id = $1 AND s.session_hash = $2`,
    [workflowId, hash, messageHash],
    'read_chat_session',
  );
  if (state === undefined) throw new Error('a chat session is gone although it was locked');
  if (state.known !== null) return { kind: 'known', number: state.known };
  if (state.open >= MAX_OPEN_TURNS) return { kind: 'refused', because: 'open' };
  if (limits.turnsPerSession > 0 && state.turns >= limits.turnsPerSession)
    return { kind: 'refused', because: 'turns' };
  const number = state.turns + 1;
  await tx.query(
    `WITH session AS (
       UPDATE chat_sessions SET turns = $5, last_at = now() WHERE workflow_id = $1 AND session_hash = $2
     ), stream AS (
       INSERT INTO chat_streams (execution_id, organisation_id, node_ids)
       SELECT $6::bigint, $3, $8::text[] WHERE cardinality($8::text[]) > 0
     )
     INSERT INTO chat_turns (workflow_id, session_hash, organisation_id, message_hash, number, execution_id, message, files)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $9::json)`,
    [
      ...[workflowId, hash, organisationId, messageHash, number, turn.executionId, turn.message],
      turn.liveNodeIds,
      turn.files.length === 0 ? null : stringifyJson(turn.files.map(({ name, size }) => ({ name, size }))),
    ],
    'insert_chat_turn',
  );
  return { kind: 'new', number };
}

/** @returns whether there is such a session */
async function lockSession(tx: Queryable, { workflowId, hash }: SessionKey): Promise<boolean> {
  const rows = await tx.query(
    `SELECT true AS found FROM chat_sessions WHERE workflow_id = $1 AND session_hash = $2 FOR UPDATE`,
    [workflowId, hash],
    'lock_chat_session',
  );
  return rows.length > 0;
}

async function countSessions(tx: Queryable, workflowId: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM chat_sessions
     WHERE workflow_id = $1 AND created_at > now() - interval '1 hour'`,
    [workflowId],
    'count_chat_sessions',
  );
  return row?.count ?? 0;
}

/** Keeps what became of a turn, for whoever reads the conversation next; what was written meanwhile is of no more use. */
export async function endTurn(
  tx: Queryable,
  session: SessionKey,
  turn: { readonly number: number; readonly execution_id: number },
  end: {
    readonly outcome: 'answered' | 'failed';
    readonly answer: string;
    readonly files: readonly AnswerFile[];
  },
): Promise<void> {
  await tx.query(
    `WITH stream AS (DELETE FROM chat_streams WHERE execution_id = $6)
     UPDATE chat_turns SET outcome = $4, answer = $5, answer_files = $7::json
     WHERE workflow_id = $1 AND session_hash = $2 AND number = $3 AND outcome IS NULL`,
    [
      ...[
        session.workflowId,
        session.hash,
        turn.number,
        end.outcome,
        cutAnswer(end.answer),
        turn.execution_id,
      ],
      end.files.length === 0 ? null : stringifyJson(end.files),
    ],
    'end_chat_turn',
  );
}

function cutAnswer(answer: string): string {
  // PostgreSQL has no NUL in texts.
  const text = answer.replaceAll('\0', '\uFFFD').toWellFormed();
  return text.length <= MAX_ANSWER_CHARS ? text : `${text.slice(0, MAX_ANSWER_CHARS).toWellFormed()}…`;
}

/** Deletes a session with its conversation; its executions stay. @returns whether there was one */
export async function deleteSession(tx: Queryable, session: SessionKey): Promise<boolean> {
  const rows = await tx.query(
    `DELETE FROM chat_sessions WHERE workflow_id = $1 AND session_hash = $2 AND organisation_id = $3
     RETURNING true AS deleted`,
    [session.workflowId, session.hash, session.organisationId],
    'delete_chat_session',
  );
  return rows.length > 0;
}

/** Deletes sessions that have been quiet for a day and whose turns are gone with their executions, at most `limit`. Returns how many. */
export async function pruneSessions(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM chat_sessions WHERE (workflow_id, session_hash) IN (
       SELECT workflow_id, session_hash FROM chat_sessions s
       WHERE last_at < now() - interval '1 day' AND NOT EXISTS (
         SELECT FROM chat_turns t WHERE t.workflow_id = s.workflow_id AND t.session_hash = s.session_hash)
       ORDER BY last_at LIMIT $1 FOR UPDATE SKIP LOCKED)
     RETURNING workflow_id`,
    [limit],
  );
  return rows.length;
}
