import { answerFilesOf, answerOf } from '@millrace/chat/answer';
import {
  type AnswerFile,
  endTurn,
  type FollowedTurn,
  type SessionKey,
  type TurnRow,
} from '@millrace/chat/turns';
import { isFinalStatus, type JsonObject, type JsonText, parseJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { readChunks } from '@millrace/runtime/chunks';
import { findExecution } from '@millrace/service/executions/store';
import { MAX_CHAT_FILES } from '@millrace/triggers';
import type { AddressDeps } from '../deps.ts';
import type { Reader } from '../pages/reader.ts';

type Say = Reader['say'];

/** What became of a turn, in the words of the page. */
export type TurnEnd = {
  readonly outcome: 'answered' | 'failed';
  readonly answer: string;
  /** What the visitor can save. */
  readonly files: readonly AnswerFile[];
};

const FAILED: TurnEnd = { outcome: 'failed', answer: '', files: [] };

type EndDeps = Pick<AddressDeps, 'config' | 'db' | 'files' | 'plans'>;

/** What became of a turn whose execution has ended. It is kept with the turn, for readers who come after the execution was deleted. */
export async function endOf(deps: EndDeps, session: SessionKey, turn: FollowedTurn): Promise<TurnEnd> {
  const { outcome, answer } = turn;
  if (outcome !== null) return { outcome, answer: answer ?? '', files: filesIn(turn.answer_files) };
  const end = await readEnd(deps, session, turn);
  await deps.db.forOrganisation(session.organisationId, (tx) => endTurn(tx, session, turn, end));
  return end;
}

async function readEnd(
  { config, db, files: stored, plans }: EndDeps,
  { organisationId }: SessionKey,
  turn: FollowedTurn,
): Promise<TurnEnd> {
  if (turn.status !== 'completed') return FAILED;
  const row = await db.forOrganisation(organisationId, (tx) =>
    findExecution(tx, organisationId, turn.execution_id),
  );
  const compiled = row === undefined ? null : await plans.get(row.workflow_id, row.workflow_version);
  if (row === undefined || compiled?.kind !== 'plan') return FAILED;
  const chunks = await readChunks(row.chunks);
  const of = {
    executionId: row.id,
    triggerData: parseJson(row.input),
    records: chunks.flatMap(({ records }) => records),
    maxBytes: config.limits.nodeOutputBytes,
  };
  const ids = answerFilesOf(compiled.plan, of, MAX_CHAT_FILES);
  const rows = ids.length === 0 ? [] : await stored.listOf(organisationId, row.id, ids);
  const files = rows.map(({ id, name, type, size }) => ({ id, name, type, size }));
  return { outcome: 'answered', answer: answerOf(compiled.plan, of) ?? '', files };
}

/** The files of a turn, from their column. */
export function filesIn<File extends JsonObject>(stored: JsonText<File[]> | null): readonly File[] {
  return stored === null ? [] : parseJson(stored);
}

/** An answer without a text, and a failure, as the reader is told of them. */
export function inWords({ outcome, answer, files }: TurnEnd, say: Say): TurnEnd {
  if (answer !== '') return { outcome, answer, files };
  return { outcome, files, answer: say(message(outcome === 'failed' ? 'chat.failed' : 'chat.no_text')) };
}

/** A turn as the page lists it. */
export function presentTurn(row: TurnRow, say: Say): JsonObject {
  const { number, message: text, outcome, answer } = row;
  const isOpen = outcome === null;
  const files = filesIn(row.answer_files);
  const end = isOpen
    ? { outcome: null, answer: null, files: [] }
    : inWords({ outcome, answer: answer ?? '', files }, say);
  return {
    number,
    message: text,
    sent_files: filesIn(row.files),
    ...end,
    has_ended: isFinalStatus(row.status),
  };
}
