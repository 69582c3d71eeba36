import { joinPointer } from '@millrace/engine';
import { ApiError, notFound, validationError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { insertAudit } from '@millrace/identity/audit/store';
import { message } from '@millrace/messages';
import { MAX_COMMENT } from '@millrace/public-addresses/callbacks/approval-page';
import {
  type DecidedApprovalRow,
  listDecidedApprovals,
  listPendingApprovals,
  type PendingApprovalRow,
} from '@millrace/service/callbacks/store';
import { clean, type Decided, decideApproval } from '@millrace/service/callbacks/use';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createReadPage } from '../http/list.ts';
import { adminRoute } from '../http/route.ts';
import { presentApproval } from './present.ts';

/** Approvals in the admin area. */
export function adminApprovalRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const readPage = createReadPage(deps);

  adminRoute(app, deps, 'GET /orgs/:org/approvals', (call) => {
    const { id } = call.organisation;
    const state = call.query?.state ?? 'pending';
    const read = state === 'pending' ? listPendingApprovals : listDecidedApprovals;
    return readPage(call, {
      filters: { state },
      read: (belowId, limit) =>
        db.forOrganisation(
          id,
          (tx): Promise<(PendingApprovalRow | DecidedApprovalRow)[]> =>
            read(tx, id, belowId ?? Number.MAX_SAFE_INTEGER, limit),
        ),
      present: presentApproval,
    });
  });

  adminRoute(app, deps, 'POST /orgs/:org/approvals/:approval/decision', async (call) => {
    const { organisation, session, actor, body } = call;
    const approvalId = pathId(call.params.approval, 'approval');
    const { memberId } = organisation;
    const decision = {
      choice: body.choice,
      comment: clean(body.comment ?? '', MAX_COMMENT),
      decidedBy: { via: 'member', member_id: memberId, email: session.email },
      given: body.values ?? {},
    } as const;
    const use = await decideApproval(db, organisation.id, approvalId, decision, (tx, approval) =>
      insertAudit(tx, {
        organisationId: organisation.id,
        action: 'execution.approval_decided',
        by: actor,
        details: {
          execution_id: approval.execution_id,
          node_id: approval.node_id,
          approval_id: approvalId,
          decision: body.choice,
        },
      }),
    );
    if (use !== 'accepted') throw refusal(use);
  });
}

function refusal(use: Exclude<Decided, 'accepted'>): ApiError {
  if (typeof use !== 'string')
    return validationError(
      use.faults.map(({ name, message: said }) => ({
        pointer: joinPointer('/values', name),
        code: 'invalid_value',
        message: said,
      })),
    );
  switch (use) {
    case 'unknown':
      return notFound('approval');
    case 'used':
      return new ApiError('callback_used', message('api.approval_decided'));
    case 'expired':
      return new ApiError('callback_expired', message('api.approval_expired'));
    case 'ended':
      return new ApiError('execution_ended', message('api.approval_execution_ended'));
    case 'no_such_choice':
      return validationError([
        { pointer: '/choice', code: 'no_such_choice', message: message('api.approval_choice_unknown') },
      ]);
  }
}
