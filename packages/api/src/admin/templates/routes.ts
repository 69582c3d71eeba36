import type { Template as ShownTemplate } from '@millrace/admin-api';
import { servicesOf } from '@millrace/connectors/connectors';
import { newCredentialFor } from '@millrace/connectors/new-credential';
import { type NodeRegistry, triggerTypeOf } from '@millrace/engine';
import { listTemplates, type Template, variableValue } from '@millrace/service/templates/catalogue';
import { type CredentialUser, credentialUsers } from '@millrace/service/templates/services';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';

/** The template gallery. */
export function templateRoutes(app: FastifyInstance, deps: AppDeps): void {
  adminRoute(app, deps, 'GET /orgs/:org/templates', async () => {
    const templates = await listTemplates();
    return { items: templates.map((template) => present(template, deps.registry)) };
  });
}

function present(template: Template, registry: NodeRegistry): ShownTemplate {
  const { workflow } = template;
  const flow = workflow.flow_data;
  const usersOf = credentialUsers(template);
  return {
    id: template.id,
    name: workflow.name,
    description: workflow.description ?? '',
    summary: template.summary,
    tags: [...(workflow.tags ?? [])],
    categories: [...template.categories],
    trigger_type: triggerTypeOf(flow, registry),
    node_types: [...new Set(flow.nodes.map((node) => node.type))],
    setup: template.setup.map((step) => ({
      var: step.var,
      description: step.description,
      value: variableValue(template, step),
      credential_types: step.credential ?? null,
      ...credentialNeeds(step.credential === undefined ? [] : usersOf(step)),
    })),
    companions: template.companions.map(({ workflow: companion }) => ({
      name: companion.name,
    })),
    samples: template.samples.map(({ name, data }) => ({ name, data })),
    flow_data: flow,
  };
}

/** What a step's credential is for. */
function credentialNeeds(
  users: readonly CredentialUser[],
): Pick<ShownTemplate['setup'][number], 'credential_hosts' | 'new_credential'> {
  const start = newCredentialFor(users);
  return {
    credential_hosts: servicesOf(users.map(({ type }) => type)).map(({ hosts }) => [...hosts]),
    new_credential:
      start === null ? null : { ...start, hosts: [...start.hosts], fields: { ...start.fields } },
  };
}
