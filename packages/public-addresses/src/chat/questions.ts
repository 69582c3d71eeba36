import { type SessionKey, sessionIdOf } from '@millrace/chat/turns';
import type { Database } from '@millrace/database/database';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type PlanNode } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { PlanCache } from '@millrace/runtime/plans';
import { listOpenWaits, type OpenWaitRow } from '@millrace/service/callbacks/store';
import { choicesOf, clean, type Decided, decideApproval, fieldsOf } from '@millrace/service/callbacks/use';
import { MAX_COMMENT } from '../callbacks/approval-page.ts';
import { named } from '../callbacks/approval-texts.ts';
import type { Reader } from '../pages/reader.ts';
import { ChatRefusal } from './refusal.ts';

/** A message of a session, with the version that answers it. */
export interface AskingTurn {
  readonly execution_id: number;
  readonly workflow_version: number;
}

export interface QuestionDeps {
  readonly db: Database;
  readonly plans: Pick<PlanCache, 'get'>;
}

/**
 * What the execution of a message asks the visitor now: approvals whose nodes say that they are meant for the chat. Others are asked elsewhere,
 * and no visitor learns of them.
 */
async function openQuestions(
  { db, plans }: QuestionDeps,
  { organisationId, workflowId }: SessionKey,
  { execution_id: executionId, workflow_version: version }: AskingTurn,
): Promise<readonly OpenWaitRow[]> {
  const compiled = await plans.get(workflowId, version);
  if (compiled?.kind !== 'plan') return [];
  const meant = new Set(compiled.plan.nodes.filter(isMeantForChat).map(({ id }) => id));
  if (meant.size === 0) return [];
  const waits = await db.forOrganisation(organisationId, (tx) =>
    listOpenWaits(tx, organisationId, executionId),
  );
  return waits.filter(({ kind, node_id: nodeId }) => kind === 'approval' && meant.has(nodeId));
}

function isMeantForChat({ type, writtenConfig }: Pick<PlanNode, 'type' | 'writtenConfig'>): boolean {
  if (type === AGENT) return writtenConfig.approval_in_chat === true;
  return type === 'wait.approval' && writtenConfig.in_chat === true;
}

/** Asks before it calls certain tools, and learns why a call is rejected. */
const AGENT = 'ai.agent';

/** The questions as the page shows them. */
export async function presentQuestions(
  deps: QuestionDeps,
  session: SessionKey,
  turn: AskingTurn,
  reader: Reader,
): Promise<JsonValue> {
  const open = await openQuestions(deps, session, turn);
  return open.map((row) => ({
    id: row.id,
    title: row.title,
    text: row.message,
    // Only questions of agents have a key.
    takes_comment: row.question !== '',
    choices: choicesOf(row).map((choice) => ({ ...named(choice, reader) })),
    fields: fieldsOf(row).map(({ name, label, type, required, help, choices, value }) => ({
      ...{ name, label, type, required, help, choices, value },
    })),
  }));
}

/**
 * Decides for the visitor.
 * @param body `{id, choice, values, comment}`: values are texts, or lists of them, by the names of the fields
 * @throws ChatRefusal when it isn't a decision, or nobody asked them
 */
export async function decideQuestion(
  deps: QuestionDeps,
  session: SessionKey,
  turn: AskingTurn,
  body: JsonValue,
): Promise<Decided> {
  const { id, choice, values = {}, comment = '' } = isJsonObject(body) ? body : {};
  const isDecision = typeof id === 'number' && typeof choice === 'string' && typeof comment === 'string';
  if (!isDecision || !isJsonObject(values) || !areTexts(values))
    throw new ChatRefusal(422, message('chat.not_a_decision'));
  const open = await openQuestions(deps, session, turn);
  if (open.every((row) => row.id !== id)) throw new ChatRefusal(409, message('chat.decided'));
  const decidedBy = { via: 'chat', session_id: sessionIdOf(session.hash) } as const;
  return decideApproval(deps.db, session.organisationId, id, {
    choice,
    comment: clean(comment, MAX_COMMENT),
    decidedBy,
    given: values,
  });
}

function areTexts(values: JsonObject): boolean {
  return Object.values(values).every(
    (value) =>
      typeof value === 'string' || (isJsonArray(value) && value.every((each) => typeof each === 'string')),
  );
}
