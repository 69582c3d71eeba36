import type { Body } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { parseJson } from '@millrace/engine';
import { validationError } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import { message } from '@millrace/messages';
import { typesForFlow } from '@millrace/own-connectors/types';
import { findPlaceOf } from '@millrace/service/favourites/store';
import { folderAt } from '@millrace/service/folders/folders';
import { createFromTemplate } from '@millrace/service/templates/create';
import { checkFlow } from '@millrace/service/workflows/rules';
import { createWorkflow } from '@millrace/service/workflows/save';
import type { WorkflowDetailRow } from '@millrace/service/workflows/store';
import type { NewWorkflow } from '@millrace/service/workflows/workflow';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { type AdminCall, adminRoute } from '../http/route.ts';
import { describeWorkflow, requireWorkflow, viewerOf } from './detail.ts';
import { authorOf, recordWorkflow } from './origin.ts';

const EMPTY_FLOW = { nodes: [], edges: [] };

type Create = AdminCall<'POST /orgs/:org/workflows'>;

/** Creating workflows: empty, from an export, from a template, or as a copy. */
export function addCreateRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'POST /orgs/:org/workflows', async (call) => {
    const { organisation, session, body } = call;
    const viewer = viewerOf(session, organisation.id, deps);
    return db.forOrganisation(organisation.id, async (tx) => {
      const { workflow, companions } = await create(tx, call);
      return {
        workflow: await describeWorkflow(tx, viewer, workflow),
        companions: companions.map(({ id, name }) => ({ id, name })),
      };
    });

    async function create(tx: Queryable, of: Create) {
      const { template } = body;
      if (template === undefined) return { workflow: await createOne(tx, of, deps), companions: [] };
      if (body.flow_data !== undefined) throw eitherOr();
      const author = authorOf(session, organisation.id);
      const folder_id = await folderOf(tx, of, deps);
      const given = { ...writable(body), folder_id, ...(body.name === undefined ? {} : { name: body.name }) };
      const created = await createFromTemplate(tx, author, template, given, deps);
      for (const row of [...created.companions, created.workflow]) {
        await recordWorkflow(tx, of, 'workflow.created', row.id, { name: row.name, template: template.id });
      }
      return created;
    }
  });

  adminRoute(app, deps, 'POST /orgs/:org/workflows/:id/duplicate', async (call) => {
    const { organisation, session, body } = call;
    const id = pathId(call.params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) => {
      const source = await requireWorkflow(tx, organisation.id, id);
      const row = await copyWorkflow(tx, call, source, body.name, deps);
      await recordWorkflow(tx, call, 'workflow.created', row.id, { name: row.name, copy_of: id });
      return describeWorkflow(tx, viewerOf(session, organisation.id, deps), row);
    });
  });
}

/** @throws ApiError 422 with a pointer per error */
async function createOne(
  tx: Queryable,
  call: Create,
  deps: Pick<AppDeps, 'registry' | 'config'>,
): Promise<WorkflowDetailRow> {
  const { registry, config } = deps;
  const { organisation, session, body } = call;
  const { name } = body;
  if (name === undefined) throw nameMissing();
  const flowData = body.flow_data ?? EMPTY_FLOW;
  const types = await typesForFlow(registry, tx, organisation.id, flowData);
  const flow = checkFlow(flowData, types, config.limits.nodes);
  const complete: NewWorkflow = { ...writable(body), name, folder_id: await folderOf(tx, call, deps) };
  const row = await createWorkflow(tx, authorOf(session, organisation.id), complete, flow, types);
  await recordWorkflow(tx, call, 'workflow.created', row.id, { name: row.name });
  return row;
}

/** @throws ApiError `too_many_folders` */
function folderOf(tx: Queryable, { organisation, actor, body }: Create, { config }: Pick<AppDeps, 'config'>) {
  return folderAt(tx, organisation.id, body.folder ?? [], config.limits.folders, actor);
}

/**
 * The settings in a body besides the flow. A pasted export always starts as a draft: looking at a schedule must not
 * start it.
 */
function writable(body: Body<'POST /orgs/:org/workflows'>): Omit<NewWorkflow, 'name'> {
  const { description, tags, is_test_mode: isTestMode, status, id } = body;
  return {
    ...(description === undefined ? {} : { description }),
    ...(tags === undefined ? {} : { tags }),
    ...(isTestMode === undefined ? {} : { is_test_mode: isTestMode }),
    ...(status === undefined || id !== undefined ? {} : { status }),
  };
}

async function copyWorkflow(
  tx: Queryable,
  { session, organisation }: Pick<Create, 'session' | 'organisation'>,
  source: WorkflowDetailRow,
  name: string,
  { registry, config }: Pick<AppDeps, 'registry' | 'config'>,
): Promise<WorkflowDetailRow> {
  const flowData = parseJson(source.flow_data);
  const types = await typesForFlow(registry, tx, organisation.id, flowData);
  const flow = checkFlow(flowData, types, config.limits.nodes);
  const { description, tags, is_test_mode: isTestMode } = source;
  const { folder_id } = await findPlaceOf(tx, organisation.id, session.userId, source.id);
  const body = { name, description, tags: [...tags], is_test_mode: isTestMode, folder_id };
  return createWorkflow(tx, authorOf(session, organisation.id), body, flow, types);
}

function nameMissing(): Error {
  return validationError([
    { pointer: '/name', code: 'required', message: message('api.workflow_name_missing') },
  ]);
}

function eitherOr(): Error {
  const fault = message('api.not_with', { other: 'template' });
  return validationError([{ pointer: '/flow_data', code: 'invalid_value', message: fault }]);
}
