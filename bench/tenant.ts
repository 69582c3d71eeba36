import type { PgDatabase } from '../packages/database/src/pool.ts';
import { issueKey } from '../packages/identity/src/api-keys/keys.ts';
import { createOrganisation } from '../packages/identity/src/organisations/store.ts';

/** An organisation and a key with all scopes in it. */
export interface Tenant {
  readonly organisationId: number;
  readonly headers: { readonly authorization: string };
}

const SCOPES = ['workflows:read', 'workflows:write', 'executions:execute', 'executions:read'];

/** Creates a separate organisation, so that rows don't affect each other. */
export async function createTenant(db: PgDatabase, name: string): Promise<Tenant> {
  const by = { actor: 'operator' } as const;
  const organisation = await createOrganisation(db, `${name} ${crypto.randomUUID()}`, by);
  const key = await issueKey(db, { organisationId: organisation.id, name: 'bench', scopes: SCOPES }, by);
  return { organisationId: organisation.id, headers: { authorization: `Bearer ${key.text}` } };
}

/** Stores an active workflow through the API. Returns its id. */
export async function createWorkflow(
  baseUrl: string,
  tenant: Tenant,
  name: string,
  flowData: unknown,
): Promise<number> {
  const answer = await fetch(`${baseUrl}/api/v1/workflows`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name, status: 'active', flow_data: flowData }),
  });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`the workflow was refused with ${answer.status}: ${text}`);
  return (JSON.parse(text) as { id: number }).id;
}

/** Of waiting for an execution: what takes longer is broken. */
const MAX_TURNS = 60;

/** Runs a workflow until the execution has this status. @returns the execution's id */
export async function executeUntil(
  baseUrl: string,
  { headers }: Tenant,
  workflowId: number,
  wanted: 'completed' | 'failed' | 'waiting_async',
): Promise<number> {
  const answer = await fetch(`${baseUrl}/api/v1/workflows/${workflowId}/execute`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"input_data":{}}',
  });
  const { execution_id: id } = (await answer.json()) as { execution_id: number };
  let status = '';
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    // Answered when it has ended, else after a second.
    const read = await fetch(`${baseUrl}/api/v1/executions/${id}?wait=1`, { headers });
    ({ status } = (await read.json()) as { status: string });
    if (status === wanted) return id;
  }
  throw new Error(`execution ${id} is ${status} instead of ${wanted}`);
}
