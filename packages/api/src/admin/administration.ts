import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../app-deps.ts';
import { alertRoutes } from './alerts/routes.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { credentialRoutes } from './credentials/routes.ts';
import { settingsRoutes } from './settings/routes.ts';
import { storageRoutes } from './storage/routes.ts';
import { systemRoutes } from './system/routes.ts';

export function administrationRoutes(app: FastifyInstance, deps: AppDeps): void {
  alertRoutes(app, deps);
  apiKeyRoutes(app, deps);
  credentialRoutes(app, deps);
  auditRoutes(app, deps);
  settingsRoutes(app, deps);
  systemRoutes(app, deps);
  storageRoutes(app, deps);
}
