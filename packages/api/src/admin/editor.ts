import type { Starter } from '@millrace/service/executions/accept';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../app-deps.ts';
import { connectorRoutes } from './connectors/routes.ts';
import { draftRoutes } from './drafts/routes.ts';
import { firstStepRoutes } from './first-steps/routes.ts';
import { folderRoutes } from './folders/routes.ts';
import { memoryRoutes } from './memories/routes.ts';
import { vectorRoutes } from './memories/vectors.ts';
import { nodeTypeRoutes } from './node-types/routes.ts';
import { pollingRoutes } from './polling/routes.ts';
import { sampleRoutes } from './samples/routes.ts';
import { scheduleRoutes } from './schedules/routes.ts';
import { templateRoutes } from './templates/routes.ts';
import { debugRoutes } from './trials/debug-routes.ts';
import { pinRoutes } from './trials/pins-routes.ts';
import { trialRoutes } from './trials/routes.ts';
import { webhookAdminRoutes } from './webhooks/routes.ts';
import { importRoutes } from './workflows/import.ts';
import { adminWorkflowRoutes } from './workflows/routes.ts';
import { workflowRunRoutes } from './workflows/runs.ts';

/** The workflow list and the editor of the admin area. */
export function editorRoutes(app: FastifyInstance, deps: AppDeps, starter: Starter): void {
  nodeTypeRoutes(app, deps);
  connectorRoutes(app, deps);
  templateRoutes(app, deps);
  firstStepRoutes(app, deps);
  adminWorkflowRoutes(app, deps);
  folderRoutes(app, deps);
  workflowRunRoutes(app, deps);
  importRoutes(app, deps);
  draftRoutes(app, deps);
  trialRoutes(app, deps, starter);
  pinRoutes(app, deps);
  debugRoutes(app, deps);
  sampleRoutes(app, deps);
  webhookAdminRoutes(app, deps);
  scheduleRoutes(app, deps);
  pollingRoutes(app, deps);
  memoryRoutes(app, deps);
  vectorRoutes(app, deps);
}
