import type { Database } from '@millrace/database/database';
import { isFinalStatus } from '@millrace/engine';
import { notFound } from '@millrace/errors/errors';
import { sendEvents } from '@millrace/http/event-stream';
import type { Watch } from '@millrace/runtime/watch';
import { findChanges } from '@millrace/service/executions/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { finalEventId, streamEvents } from './events.ts';

/**
 * Sends the events of an execution, starting after `Last-Event-ID`; 204 if there won't be any.
 * @throws ApiError `not_found`
 */
export async function followExecution(
  db: Database,
  { organisationId, id }: { readonly organisationId: number; readonly id: number },
  request: FastifyRequest,
  reply: FastifyReply,
  watch: () => Watch,
): Promise<FastifyReply> {
  const read = (afterSeq: number) =>
    db.readForOrganisation(organisationId, (tx) => findChanges(tx, organisationId, id, afterSeq));
  const seen = lastEventId(request.headers['last-event-id']);
  const first = await read(Number.MAX_SAFE_INTEGER);
  if (first === undefined) throw notFound('execution');
  if (isFinalStatus(first.status) && seen >= finalEventId(first)) return reply.code(204).send();
  return sendEvents(reply, streamEvents(read, watch(), seen));
}

/** Anything that isn't a checkpoint number counts as nothing seen. */
function lastEventId(header: string | string[] | undefined): number {
  return typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) : 0;
}
