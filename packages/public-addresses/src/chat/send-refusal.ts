import type { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendNotice } from '../pages/hosted-page.ts';
import { busyForSeconds, logDefect, setHeaders } from '../pages/refusals.ts';
import { closeUnread } from '../webhooks/arriving.ts';
import { chatReader } from './chat-page.ts';
import { ChatRefusal } from './refusal.ts';

/** Sends a refusal, or that there is a defect, in the language of the page. */
export function sendRefusal(error: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refused = refusalOf(error);
  closeUnread(request, reply);
  if (refused.status >= 500 && error.cause !== refused) logDefect(request, error);
  setHeaders(reply, error);
  if (refused.retryAfterS !== null) reply.header('retry-after', String(refused.retryAfterS));
  if (request.routeOptions.config.produces?.includes('text/html') === true)
    return sendNotice(reply, refused.status, message('form.unfinished'), refused.said);
  const { say } = chatReader(null, request.headers);
  return reply
    .code(refused.status)
    .type('application/json; charset=utf-8')
    .send({ problem: say(refused.said), ends: refused.ends });
}

function refusalOf(error: ApiError): ChatRefusal {
  if (error.cause instanceof ChatRefusal) return error.cause;
  const seconds = busyForSeconds(error);
  if (seconds !== null)
    return new ChatRefusal(error.status, message('chat.busy', { seconds }), { retryAfterS: seconds });
  if (error.status === 413) return new ChatRefusal(413, message('chat.too_large'));
  return new ChatRefusal(error.status, message('chat.not_taken'));
}
