import { liveNodesOf } from '@millrace/chat/answer';
import { type BeganTurn, beginTurn, type SessionKey, sessionIdOf } from '@millrace/chat/turns';
import type { Database } from '@millrace/database/database';
import type { StartOrder } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import { organisationPaused } from '@millrace/service/executions/startable';
import type { FastifyRequest } from 'fastify';
import { orderOf } from '../open-address.ts';
import { capture } from '../webhooks/capture.ts';
import type { SentMessage } from './message.ts';
import type { OpenChat } from './open-chat.ts';

/**
 * Stores a message and its start before it returns; the same message sent again starts nothing.
 * @throws ApiError `organisation_paused`, and if the start isn't accepted
 */
export async function startTurn(
  { db, starter }: { readonly db: Database; readonly starter: Starter },
  chat: OpenChat,
  session: SessionKey,
  sent: SentMessage,
  request: FastifyRequest,
): Promise<BeganTurn> {
  const { found, workflow, compiled, nodeId, options } = chat;
  if (found.isPaused) throw organisationPaused();
  const { executionId } = found;
  const isLive = options.live && compiled.kind === 'plan';
  const turn = {
    messageId: sent.messageId,
    message: sent.text,
    files: sent.files,
    executionId,
    liveNodeIds: isLive ? liveNodesOf(compiled.plan, options.answer) : [],
  };
  const limits = {
    sessionsPerHour: options.sessions_per_hour,
    turnsPerSession: options.messages_per_session,
  };
  const start = (number: number): StartOrder => {
    const input = {
      session_id: sessionIdOf(session.hash),
      message: sent.text,
      message_id: sent.messageId,
      number,
      ...(options.files_per_message === 0 ? {} : { files: sent.files }),
    };
    const files = sent.files.map(({ $file }) => $file);
    return orderOf(chat, request, { triggerType: 'chat', nodeId, input, files });
  };
  const began = await db.transaction(async (tx) => {
    const begun = await beginTurn(tx, session, turn, limits);
    if (begun.kind === 'new') await starter.storeQueued(tx, session.organisationId, [start(begun.number)]);
    return begun;
  });
  if (began.kind === 'new') {
    const order = start(began.number);
    starter.stored(order);
    if (found.isListening)
      await capture(db, request, workflow, { executionId, data: order.input, isRepeat: false });
  }
  return began;
}
