import { FIRST_STEPS, type FirstStep, isAtLeast, type Role } from '@millrace/admin-api';
import { readFirstSteps } from '@millrace/service/first-steps/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';

/** Roles that may take each step. */
const NEEDED: { readonly [Step in FirstStep]: Role } = {
  run: 'editor',
  template: 'editor',
  key: 'org_admin',
  invite: 'org_admin',
};

/** The first steps of a new user, and which were taken. */
export function firstStepRoutes(app: FastifyInstance, deps: AppDeps): void {
  adminRoute(app, deps, 'GET /orgs/:org/first-steps', async ({ organisation: { id, role } }) => {
    const { sample_workflow_id: sample, ...done } = await deps.db.forOrganisation(id, (tx) =>
      readFirstSteps(tx, id),
    );
    const steps = FIRST_STEPS.filter((step) => isAtLeast(role, NEEDED[step]));
    return { items: steps.map((step) => ({ step, is_done: done[step] })), sample_workflow_id: sample };
  });
}
