import { type JsonValue, stringifyJson } from '@millrace/engine';
import { ApiError, notFound } from '@millrace/errors/errors';
import { principalOf } from '@millrace/http/context';
import { checkIfMatch, entityTag, isUnchanged } from '@millrace/http/etag';
import { withPresentIds } from '@millrace/http/former-ids';
import { replayBeforeValidation, sendStoredResponse } from '@millrace/http/idempotency';
import { pathId } from '@millrace/http/ids';
import { recordedByKey } from '@millrace/http/origin';
import { HEADERS, response } from '@millrace/http/responses';
import { message } from '@millrace/messages';
import { typesForNewFlow, typesOfSaved } from '@millrace/own-connectors/types';
import { createIdempotentRunner, type StoredResponse } from '@millrace/service/idempotency/store';
import { WEBHOOK_TRIGGER } from '@millrace/service/webhooks/closed';
import { changeDetails, recordWorkflowChange } from '@millrace/service/workflows/record';
import { checkFlow } from '@millrace/service/workflows/rules';
import {
  archiveWorkflow,
  changeWorkflow,
  createWorkflow,
  readLockedWorkflow,
} from '@millrace/service/workflows/save';
import { findWorkflow, type WorkflowDetailRow } from '@millrace/service/workflows/store';
import { triggersIn } from '@millrace/service/workflows/trigger-types';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AppDeps } from '../../app-deps.ts';
import { workflowListRoutes } from './list-routes.ts';
import { presentDetail, presentItem } from './present.ts';
import { CreateWorkflow, EXAMPLES, UpdateWorkflow, WORKFLOW_SCHEMAS } from './schema.ts';
import { versionRoutes } from './version-routes.ts';

const ONE = '/api/v1/workflows/:id';

type ById = { Params: { id: string } };

/** The workflow endpoints: list, read, create, change, archive, webhook URL, versions. */
export function workflowRoutes(app: FastifyInstance, deps: AppDeps): void {
  for (const schema of WORKFLOW_SCHEMAS) app.addSchema(schema);
  workflowListRoutes(app, deps);
  addRead(app, deps);
  addCreate(app, deps);
  addUpdate(app, deps);
  addArchive(app, deps);
  addWebhookInfo(app, deps);
  versionRoutes(app, deps);
}

function addRead(app: FastifyInstance, { db, registry }: AppDeps): void {
  const schema = {
    operationId: 'getWorkflow',
    summary: 'Get a workflow',
    description:
      'With its `flow_data` and the `problems` that must be fixed before it can be activated. Drafts of the admin area are not included. You can send the response back unchanged.',
    tags: ['Workflows'],
    response: {
      200: response('The workflow.', Type.Ref('WorkflowDetail#'), {
        example: EXAMPLES.detail,
        headers: { ETag: HEADERS.etag },
      }),
      304: {
        description: 'The state in If-None-Match is current.',
        type: 'null',
        headers: { ETag: HEADERS.etag },
      },
    },
  };
  const config = {
    scope: 'workflows:read',
    readsHeaders: { 'If-None-Match': 'ETag of the state the client has; 304 if it is current.' },
  } as const;
  app.get<ById>(ONE, { config, schema }, async (request, reply) => {
    const row = await readWorkflow(request, db);
    const etag = entityTag(row.version, row.updated_at);
    reply.header('etag', etag);
    if (isUnchanged(request, etag)) return reply.code(304).send();
    const { organisationId } = principalOf(request);
    return presentDetail(row, await typesOfSaved(registry, db, organisationId, row));
  });
}

async function readWorkflow(request: FastifyRequest<ById>, db: AppDeps['db']): Promise<WorkflowDetailRow> {
  const { organisationId } = principalOf(request);
  const id = pathId(request.params.id, 'workflow');
  const row = await db.forOrganisation(organisationId, (tx) => findWorkflow(tx, organisationId, id));
  if (row === undefined) throw notFound('workflow');
  return row;
}

function addCreate(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;
  const runOnce = createIdempotentRunner(db);
  const schema = {
    operationId: 'createWorkflow',
    summary: 'Create a workflow',
    description:
      'You can post back what GET returns: members that only the service sets are ignored. `status` may be `draft` (default) or `active`; to be active a workflow must have no problems.',
    tags: ['Workflows'],
    body: CreateWorkflow,
    response: {
      201: response('The new workflow.', Type.Ref('WorkflowDetail#'), {
        example: EXAMPLES.detail,
        headers: {
          Location: HEADERS.location,
          ETag: HEADERS.etag,
          'Idempotent-Replayed': HEADERS.idempotentReplayed,
        },
      }),
    },
  };
  const options = {
    config: { scope: 'workflows:write', idempotent: true },
    bodyLimit: config.limits.flowBodyBytes,
    preValidation: replayBeforeValidation(db, setTagOfBody),
    schema,
  } as const;
  app.post<{ Body: CreateWorkflow }>('/api/v1/workflows', options, async (request, reply) => {
    const { body } = request;
    const principal = principalOf(request);
    const { flow, types } = await checkFlowOf(request, deps, body.flow_data);
    const work = async (tx: Parameters<typeof createWorkflow>[0]): Promise<StoredResponse> => {
      const row = await createWorkflow(tx, principal, body, flow, types);
      await recordWorkflowChange(tx, recordedByKey(request), 'workflow.created', row.id, { name: row.name });
      return {
        status: 201,
        location: `${config.publicUrl}/api/v1/workflows/${row.id}`,
        body: stringifyJson(await presentDetail(row, types)),
      };
    };
    const result =
      request.idempotencyKey === null
        ? { response: await db.forOrganisation(principal.organisationId, work), replayed: false }
        : await runOnce(request.idempotencyKey, work);
    setTagOfBody(reply, result.response);
    return sendStoredResponse(reply, result);
  });
}

/** @throws ApiError 422 if it can't be saved */
async function checkFlowOf(request: FastifyRequest, { db, registry, config }: AppDeps, flowData: unknown) {
  const { organisationId } = principalOf(request);
  const types = await typesForNewFlow(registry, db, organisationId, flowData as JsonValue);
  const checked = checkFlow(flowData as JsonValue, types, config.limits.nodes);
  return { flow: withPresentIds(request, checked, types), types };
}

/** The entity tag isn't stored with a response but derived from its body. */
function setTagOfBody(reply: FastifyReply, { body }: StoredResponse): void {
  const { version, updated_at } = JSON.parse(body) as { version: number; updated_at: string };
  reply.header('etag', entityTag(version, new Date(updated_at)));
}

function addUpdate(app: FastifyInstance, deps: AppDeps): void {
  const { db, registry, config } = deps;
  const schema = {
    operationId: 'updateWorkflow',
    summary: 'Change a workflow',
    description:
      'Every member is optional; absent members keep their values. `flow_data` that differs from the saved one appends a version. The body of GET sent back unchanged changes nothing. An archived workflow takes one change: `{"status": "inactive"}` restores it.',
    tags: ['Workflows'],
    body: UpdateWorkflow,
    response: {
      200: response('The workflow as it is now.', Type.Ref('WorkflowDetail#'), {
        example: EXAMPLES.detail,
        headers: { ETag: HEADERS.etag },
      }),
    },
  };
  const options = {
    config: { scope: 'workflows:write', conditional: true, problems: ['workflow_archived'] },
    bodyLimit: config.limits.flowBodyBytes,
    schema,
  } as const;
  app.put<ById & { Body: UpdateWorkflow }>(ONE, options, async (request, reply) => {
    const { body } = request;
    const principal = principalOf(request);
    const given = body.flow_data === undefined ? null : await checkFlowOf(request, deps, body.flow_data);
    const flow = given?.flow ?? null;
    const id = pathId(request.params.id, 'workflow');
    const row = await db.forOrganisation(principal.organisationId, async (tx) => {
      const current = await readLockedWorkflow(tx, principal, id);
      checkIfMatch(request, entityTag(current.version, current.updated_at));
      const changed = await changeWorkflow(tx, principal, current, body, flow, given?.types ?? registry);
      const action = current.status === 'archived' ? 'workflow.restored' : 'workflow.changed';
      if (changed !== current)
        await recordWorkflowChange(tx, recordedByKey(request), action, id, changeDetails(current, changed));
      return changed;
    });
    reply.header('etag', entityTag(row.version, row.updated_at));
    return presentDetail(row, await typesOfSaved(registry, db, principal.organisationId, row));
  });
}

function addArchive(app: FastifyInstance, { db }: AppDeps): void {
  const schema = {
    operationId: 'archiveWorkflow',
    summary: 'Archive a workflow',
    description: 'Running executions continue. Archiving an archived workflow gives the same response.',
    tags: ['Workflows'],
    response: {
      200: response('The archived workflow.', Type.Ref('WorkflowItem#'), {
        example: EXAMPLES.item,
        headers: { ETag: HEADERS.etag },
      }),
    },
  };
  const options = { config: { scope: 'workflows:write', conditional: true }, schema } as const;
  app.delete<ById>(ONE, options, async (request, reply) => {
    const principal = principalOf(request);
    const id = pathId(request.params.id, 'workflow');
    const row = await db.forOrganisation(principal.organisationId, async (tx) => {
      const current = await readLockedWorkflow(tx, principal, id);
      checkIfMatch(request, entityTag(current.version, current.updated_at));
      const archived = await archiveWorkflow(tx, current);
      const details = { from_status: current.status };
      if (archived !== current)
        await recordWorkflowChange(tx, recordedByKey(request), 'workflow.archived', id, details);
      return archived;
    });
    reply.header('etag', entityTag(row.version, row.updated_at));
    return presentItem(row);
  });
}

function addWebhookInfo(app: FastifyInstance, { db, config }: AppDeps): void {
  const schema = {
    operationId: 'getWebhookInfo',
    summary: 'Get the webhook URL of a workflow',
    description:
      'Anyone who knows the URL can call it. A workflow without a webhook trigger gives 404 `no_webhook_trigger`. If it has several, they have this URL followed by their paths.',
    tags: ['Workflows'],
    response: { 200: response('The webhook.', Type.Ref('WebhookInfo#'), { example: EXAMPLES.webhook }) },
  };
  const options = { config: { scope: 'workflows:read', problems: ['no_webhook_trigger'] }, schema } as const;
  app.get<ById>(`${ONE}/webhook-info`, options, async (request) => {
    const row = await readWorkflow(request, db);
    if (!triggersIn(row).includes(WEBHOOK_TRIGGER)) {
      throw new ApiError(
        'no_webhook_trigger',
        message('api.webhook_trigger_missing', { type: WEBHOOK_TRIGGER }),
      );
    }
    const url = `${config.publicUrl}/api/v1/webhooks/${row.webhook_hash}`;
    return { hash: row.webhook_hash, url, method: 'POST', workflow_id: row.id };
  });
}
