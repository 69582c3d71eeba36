import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../http/app-deps.ts';
import { apiKeyRoutes } from './api-keys/admin-routes.ts';
import { auditRoutes } from './audit/admin-routes.ts';
import { credentialRoutes } from './credentials/admin-routes.ts';
import { settingsRoutes } from './settings/admin-routes.ts';
import { systemRoutes } from './system/admin-routes.ts';

/** What an organisation and the service are administered with. */
export function administrationRoutes(app: FastifyInstance, deps: AppDeps): void {
  apiKeyRoutes(app, deps);
  credentialRoutes(app, deps);
  auditRoutes(app, deps);
  settingsRoutes(app, deps);
  systemRoutes(app, deps);
}
