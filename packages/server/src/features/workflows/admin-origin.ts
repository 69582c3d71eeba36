import type { JsonObject } from '@millrace/engine';
import type { FastifyRequest } from 'fastify';
import type { Queryable } from '../../db/database.ts';
import { originOf } from '../../http/admin/origin.ts';
import { actorOf } from '../../http/admin/route.ts';
import type { AuditAction } from '../audit/store.ts';
import type { Membership, Session } from '../sessions/session.ts';
import { recordWorkflowChange } from './record.ts';
import type { Author } from './save.ts';

/** Somebody who is signed in, as the author of what they save. */
export function authorOf(session: Session, organisationId: number, message?: string): Author {
  const author = { organisationId, apiKeyId: null, userId: session.userId };
  const text = message?.trim() ?? '';
  return text === '' ? author : { ...author, message: text };
}

/** The parts of a call that an audit entry needs. */
export interface RecordedCall {
  readonly session: Session;
  readonly organisation: Membership;
  readonly request: FastifyRequest;
}

/** Records what somebody did with a workflow, in the transaction in which they did it. */
export function recordWorkflow(
  tx: Queryable,
  { session, organisation, request }: RecordedCall,
  action: AuditAction,
  workflowId: number,
  details: JsonObject = {},
): Promise<void> {
  const by = { organisationId: organisation.id, by: actorOf(session), ...originOf(request) };
  return recordWorkflowChange(tx, by, action, workflowId, details);
}
