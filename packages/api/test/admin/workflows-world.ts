import type { WorkflowDetail } from '@millrace/admin-api';
import type { JsonObject } from '@millrace/engine';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestService } from '@millrace/testing/service';
import { expect } from 'vitest';

/** A service that runs nothing, and two editors of one organisation. */
export async function startWithEditors() {
  const service = await startTestService({ runsWorker: false });
  const ada = await createPerson(service, 'editor');
  const grace = await createPerson(service, 'editor', { organisationId: ada.organisationId });
  return { service, ada, grace };
}

/** A service that runs nothing, an editor and a viewer of one organisation, and the administrator of another one. */
export async function startWithStranger() {
  const service = await startTestService({ runsWorker: false });
  const editor = await createPerson(service, 'editor');
  const viewer = await createPerson(service, 'viewer', { organisationId: editor.organisationId });
  const stranger = await createPerson(service, 'org_admin');
  return { service, editor, viewer, stranger };
}

/** A runnable flow that contains a text to identify versions. */
export function flowWith(text: string): JsonObject {
  const [start, set] = RUNNABLE_FLOW.nodes;
  return {
    ...RUNNABLE_FLOW,
    nodes: [start, { ...set, data: { config: { values: { text } } } }],
  } as JsonObject;
}

export async function createWorkflow(
  person: TestPerson,
  flow: JsonObject = flowWith('first'),
  more: { readonly name?: string; readonly tags?: string[]; readonly description?: string } = {},
): Promise<WorkflowDetail> {
  const { status, data, text } = await person.call('POST /orgs/:org/workflows', {
    params: { org: person.organisationId },
    body: { name: 'A workflow', ...more, flow_data: flow },
  });
  expect(status, text).toBe(200);
  return data.workflow;
}

/** Path of a workflow in this person's organisation. */
export function pathTo(person: TestPerson, { id }: { readonly id: number }) {
  return { org: person.organisationId, id };
}

export interface AuditRow {
  readonly action: string;
  readonly user_id: number | null;
  readonly source_ip: string | null;
  readonly request_id: string | null;
  readonly details: string;
}

/** The audit log of a workflow, oldest first. */
export function auditOf(service: TestService, workflowId: number): Promise<AuditRow[]> {
  return service.database.db.query<AuditRow>(
    `SELECT action, user_id, source_ip, request_id, details FROM audit_log
     WHERE details->>'workflow_id' = $1 ORDER BY id`,
    [String(workflowId)],
  );
}

/** Waits until an execution has ended and returns it as the public API shows it. */
export async function endOf(service: TestService, person: TestPerson, executionId: number) {
  const key = await service.createKey({ organisationId: person.organisationId });
  const { json } = await service.api('GET', `/executions/${executionId}?wait=30`, { key });
  return json as unknown as {
    readonly status: string;
    readonly workflow_version: number;
    readonly trigger_type: string;
    readonly is_test_mode: boolean;
    readonly input_data: JsonObject;
    readonly error?: { readonly code: string; readonly message: string };
    readonly node_outputs: {
      readonly [id: string]: { readonly status: string; readonly output: JsonObject };
    };
  };
}
