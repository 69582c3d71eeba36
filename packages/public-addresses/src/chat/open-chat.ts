import { hashOfSession, type SessionKey } from '@millrace/chat/turns';
import { message } from '@millrace/messages';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import { CHAT_TRIGGER } from '@millrace/service/webhooks/closed';
import type { FastifyRequest } from 'fastify';
import type { AddressDeps } from '../deps.ts';
import { type OpenAddress, openAddress } from '../open-address.ts';
import { createChats, type WorkflowChat } from './chat-of.ts';
import { ChatRefusal } from './refusal.ts';

const SESSION = /^[A-Za-z0-9_-]{43}$/;

/** A chat that somebody may use. */
export interface OpenChat extends OpenAddress, WorkflowChat {}

/** The chat at an address; null if there is none, `unfinished` if the settings of its trigger can't be used. */
export type FindChat = (
  request: FastifyRequest<{ Params: { hash: string } }>,
) => Promise<OpenChat | null | 'unfinished'>;

export function createFindChat({ db, plans }: AddressDeps, starter: Starter): FindChat {
  const chatOf = createChats(db);
  return async (request) => {
    const address = await openAddress({ starter, plans }, request, CHAT_TRIGGER);
    if (address === null) return null;
    const chat = await chatOf(address.workflow, address.compiled);
    return chat === null ? 'unfinished' : { ...address, ...chat };
  };
}

/** @throws ChatRefusal 404 or 503 */
export function required(chat: OpenChat | null | 'unfinished'): OpenChat {
  if (chat === null) throw new ChatRefusal(404, message('chat.unknown_text'));
  if (chat === 'unfinished') throw new ChatRefusal(503, message('chat.unfinished_text'));
  return chat;
}

/**
 * The session whose secret the browser sends: in a header, so it stands in no address and no log.
 * @throws ChatRefusal 400
 */
export function sessionOf(
  request: FastifyRequest,
  { id, organisationId }: Pick<StartableWorkflow, 'id' | 'organisationId'>,
): SessionKey {
  const secret = request.headers['x-chat-session'];
  if (typeof secret !== 'string' || !SESSION.test(secret))
    throw new ChatRefusal(400, message('chat.no_session'));
  return { workflowId: id, organisationId, hash: hashOfSession(secret) };
}
