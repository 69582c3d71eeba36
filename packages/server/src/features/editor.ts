import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../http/app-deps.ts';
import { draftRoutes } from './drafts/admin-routes.ts';
import type { Starter } from './executions/accept.ts';
import { nodeTypeRoutes } from './node-types/admin-routes.ts';
import { sampleRoutes } from './samples/admin-routes.ts';
import { scheduleRoutes } from './schedules/admin-routes.ts';
import { templateRoutes } from './templates/admin-routes.ts';
import { trialRoutes } from './trials/admin-routes.ts';
import { pinRoutes } from './trials/pins-routes.ts';
import { webhookAdminRoutes } from './webhooks/admin-routes.ts';
import { adminWorkflowRoutes } from './workflows/admin-routes.ts';

/** What the admin area's list of workflows and its editor are made of. */
export function editorRoutes(app: FastifyInstance, deps: AppDeps, starter: Starter): void {
  nodeTypeRoutes(app, deps);
  templateRoutes(app, deps);
  adminWorkflowRoutes(app, deps);
  draftRoutes(app, deps);
  trialRoutes(app, deps, starter);
  pinRoutes(app, deps);
  sampleRoutes(app, deps);
  webhookAdminRoutes(app, deps);
  scheduleRoutes(app, deps);
}
