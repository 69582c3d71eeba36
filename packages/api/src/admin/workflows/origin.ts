import type { Queryable } from '@millrace/database/database';
import type { JsonObject } from '@millrace/engine';
import type { AuditAction } from '@millrace/identity/audit/store';
import type { Membership, Session } from '@millrace/identity/sessions/session';
import { recordWorkflowChange } from '@millrace/service/workflows/record';
import type { Author } from '@millrace/service/workflows/save';
import type { UserActor } from '../http/route.ts';

/** The signed-in user as the author of a version. */
export function authorOf(session: Session, organisationId: number, message?: string): Author {
  const author = { organisationId, apiKeyId: null, userId: session.userId };
  const text = message?.trim() ?? '';
  return text === '' ? author : { ...author, message: text };
}

/** The parts of a call that an audit entry needs. */
export interface RecordedCall {
  readonly actor: UserActor;
  readonly organisation: Membership;
}

/** Records an action on a workflow, in the same transaction. */
export function recordWorkflow(
  tx: Queryable,
  { actor, organisation }: RecordedCall,
  action: AuditAction,
  workflowId: number,
  details: JsonObject = {},
): Promise<void> {
  return recordWorkflowChange(
    tx,
    { organisationId: organisation.id, by: actor },
    action,
    workflowId,
    details,
  );
}
