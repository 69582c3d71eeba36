import type { ResponseBody } from '@millrace/admin-api';
import { findProblemsWork, type JsonValue, type NodeRegistry } from '@millrace/engine';
import { validationError } from '@millrace/errors/errors';
import type { ImportedWorkflow, ImportResult, Outcome } from '@millrace/importer';
import { presentMessage } from '@millrace/messages/english';
import { finishInTurns } from '@millrace/runtime/turns';
import { presentProblems } from '@millrace/service/workflows/flow-check';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';

type Imported = ResponseBody<'POST /orgs/:org/import'>;

/** Converts workflows of other products. */
export function importRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { nodes, jsonDepth: depth } = deps.config.limits;

  adminRoute(app, deps, 'POST /orgs/:org/import', async ({ body }) => {
    const { name = '', from = 'auto' } = body;
    const product = from === 'auto' ? {} : { product: from };
    const options = { limits: { nodes, depth }, name, isPart: true, ...product };
    // With its JavaScript parser, it would be a third of the memory of the service's code, and few need it.
    const { importWork, workflowsOf } = await import('@millrace/importer');
    const read = await finishInTurns(importWork(body.content as JsonValue, options));
    if ('result' in read) return await present(read.result, workflowsOf(read.result), deps.registry);
    const { code, message: why } = read.fault;
    throw validationError([{ pointer: '/content', code, message: why }]);
  });
}

/** With what each workflow still needs before it can be activated, as its own check will say. */
async function present(
  { product, outcomes }: ImportResult,
  made: readonly ImportedWorkflow[],
  registry: NodeRegistry,
): Promise<Imported> {
  const workflows: Imported['workflows'] = [];
  for (const { name, flow_data: flow } of made) {
    const problems = await finishInTurns(findProblemsWork(flow, registry));
    workflows.push({ name, flow_data: flow, problems: presentProblems(problems) });
  }
  return {
    product,
    workflows,
    nodes: outcomes.map((outcome) => ({
      node: outcome.node,
      type: outcome.type,
      outcome: outcome.kind,
      notes: notesOf(outcome).map(presentMessage),
    })),
  };
}

function notesOf(outcome: Outcome) {
  if (outcome.kind === 'mapped') return [];
  return outcome.kind === 'dropped' ? [outcome.reason] : outcome.what;
}
