import type { Pin } from '@millrace/admin-api';
import { formatTimestamp, type JsonObject, parseJson, stringifyJson } from '@millrace/engine';
import { validationError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { message } from '@millrace/messages';
import { MAX_PIN_BYTES, MAX_PINS } from '@millrace/service/trials/debug-data';
import {
  deletePin,
  dropOldPins,
  listPins,
  type PinOwner,
  type PinRow,
  putPin,
} from '@millrace/service/trials/pins-store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { requireWorkflow } from '../workflows/detail.ts';

/** Pinned outputs of the current user; those of others can't be addressed, and only the user's own trials use them. */
export function pinRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/pins', async ({ organisation, session, params }) => {
    const owner = ownerOf(organisation.id, params.id, session.userId);
    return db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, owner.workflowId);
      return { items: (await listPins(tx, owner)).map(present) };
    });
  });

  adminRoute(app, deps, 'PUT /orgs/:org/workflows/:id/pins', async (call) => {
    const { organisation, session, params, body } = call;
    const { node_id: nodeId, output } = body;
    const owner = ownerOf(organisation.id, params.id, session.userId);
    const text = output === null ? null : textOf(output);
    return db.forOrganisation(organisation.id, async (tx) => {
      await requireWorkflow(tx, organisation.id, owner.workflowId);
      if (text === null) {
        await deletePin(tx, owner, nodeId);
      } else {
        await putPin(tx, owner, nodeId, text);
        await dropOldPins(tx, owner, MAX_PINS);
      }
    });
  });
}

function ownerOf(organisationId: number, id: string, userId: number): PinOwner {
  return { organisationId, workflowId: pathId(id, 'workflow'), userId };
}

/** @throws ApiError 422 if it is too large */
function textOf(output: JsonObject): string {
  const text = stringifyJson(output);
  if (Buffer.byteLength(text) <= MAX_PIN_BYTES) return text;
  const fault = message('api.pin_too_large', { bytes: MAX_PIN_BYTES });
  throw validationError([{ pointer: '/output', code: 'too_large', message: fault }]);
}

function present(row: PinRow): Pin {
  return {
    node_id: row.node_id,
    output: parseJson(row.output) as JsonObject,
    pinned_at: formatTimestamp(row.pinned_at),
  };
}
