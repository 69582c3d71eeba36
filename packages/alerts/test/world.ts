import { randomBytes, randomUUID } from 'node:crypto';
import type { AlertRuleForm } from '@millrace/admin-api';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { type Outside, openOutside } from '@millrace/testing/outside';
import { startTestService, type TestService } from '@millrace/testing/service';
import { expect } from 'vitest';
import { type AlertDeps, runAlerts } from '../src/alerts.ts';

/** Runs every execution that a test ends. */
export const WORKER = randomUUID();
/** In the format of Standard Webhooks, so that it is the secret that may not be shown. */
export const SECRET = `whsec_${Buffer.from('canary-alert-secret-0123').toString('base64')}`;

export interface EndedOptions {
  readonly status?: 'completed' | 'failed';
  readonly seconds?: number;
  readonly code?: string;
  readonly fields?: { readonly [column: string]: unknown };
}

/** An organisation with an administrator, a workflow, and a webhook that takes its alerts. */
export interface AlertedOrganisation {
  readonly admin: TestPerson;
  readonly organisationId: number;
  readonly workflowId: number;
  readonly credentialId: number;
  /** Where its webhook is, below the outside server. */
  readonly path: string;
  addWorkflow(name: string): Promise<number>;
  addRule(form: Partial<AlertRuleForm>): Promise<number>;
  /** Ends an execution of its workflow, or of another; returns its id. */
  end(options?: EndedOptions, workflowId?: number): Promise<number>;
  history(): Promise<Awaited<ReturnType<typeof readHistory>>>;
  /** The bodies that its webhook got. */
  told(): { readonly type: string; readonly data: TellData }[];
}

export interface TellData {
  readonly is_test: boolean;
  readonly rule: { readonly id: number; readonly name: string; readonly kind: string };
  readonly incidents: readonly {
    readonly subject: string;
    readonly name: string;
    readonly execution_id: number | null;
    readonly execution_url: string | null;
    readonly occurrences: number;
    readonly error: { readonly code: string; readonly message: string } | null;
  }[];
  readonly more: number;
}

export interface AlertWorld {
  readonly service: TestService;
  readonly outside: Outside;
  readonly deps: AlertDeps;
  /** Rounds of this many processes at the same time, and one more of one alone if they are several. */
  run(processes?: number): Promise<void>;
  organisation(): Promise<AlertedOrganisation>;
  stop(): Promise<void>;
}

const readHistory = async ({ call, organisationId: org }: TestPerson) =>
  (await call('GET /orgs/:org/alerts', { params: { org } })).data.items;

export async function startAlertWorld(messagesPerHour = 60): Promise<AlertWorld> {
  const secretKeys = { current: randomBytes(32), previous: [] };
  const config = { secretKeys, allowHosts: ['127.0.0.1'], alerts: { rules: 5, messagesPerHour } };
  const service = await startTestService({ runsWorker: false, config });
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
  await service.database.db.query(
    "INSERT INTO workers (id, host, pid, lease_expires_at) VALUES ($1, 'test', 1, now() + interval '1 day')",
    [WORKER],
  );
  const outside = await openOutside();
  const deps = { ...service.deps, publicUrl: () => service.deps.config.publicUrl };
  return {
    service,
    outside,
    deps,
    async run(processes = 1) {
      await Promise.all(Array.from({ length: processes }, () => runAlerts(deps)));
      // Of those that look at the same time, each may leave it to another; the next round makes up for that.
      if (processes > 1) await runAlerts(deps);
    },
    organisation: () => newOrganisation(service, outside),
    async stop() {
      await service.stop();
      await outside.close();
    },
  };
}

async function newOrganisation(service: TestService, outside: Outside): Promise<AlertedOrganisation> {
  const { db } = service.database;
  const admin = await createPerson(service, 'org_admin');
  const { organisationId } = admin;
  const params = { org: organisationId };
  const key = await service.createKey({ organisationId });
  const addWorkflow = async (name: string) => {
    const body = { name, flow_data: { nodes: [], edges: [] } };
    return (await service.api('POST', '/workflows', { key, body })).json.id;
  };
  const path = `/alerts/${organisationId}`;
  outside.on(`POST ${path}`, { status: 204 });
  const credential = { name: 'signs', type: 'secret', hosts: [], fields: { value: SECRET } };
  const stored = await admin.call('POST /orgs/:org/credentials', { params, body: credential });
  const credentialId = stored.data.id;
  const workflowId = await addWorkflow('import');
  return {
    admin,
    organisationId,
    workflowId,
    credentialId,
    path,
    addWorkflow,
    async addRule(form) {
      const rule: AlertRuleForm = {
        ...{ name: 'rule', kind: 'failure', workflow_id: null, count: null, seconds: null },
        channel: 'webhook',
        target: { credential_id: credentialId, url: `${outside.url}${path}` },
        ...{ language: 'en', group_seconds: 0, quiet_hours: null, is_enabled: true },
        ...form,
      };
      const { status, data, text } = await admin.call('POST /orgs/:org/alert-rules', { params, body: rule });
      expect(status, text).toBe(200);
      return data.id;
    },
    async end({ status = 'failed', seconds = 0, code = 'broken', fields = {} } = {}, id = workflowId) {
      const error = { code, message: 'it broke', node_id: 'work', iteration: [] };
      const row = {
        ...{ organisation_id: organisationId, workflow_id: id, workflow_version: 1, status: 'running' },
        ...{ trigger_type: 'api', display_name: 'run', is_test_mode: false, input: {} },
        ...{ worker_id: WORKER, ...fields },
      };
      const [execution] = await db.query<{ id: number }>(
        `INSERT INTO executions (${Object.keys(row).join(', ')})
         SELECT ${Object.keys(row).join(', ')} FROM json_populate_record(NULL::executions, $1::json) RETURNING id`,
        [JSON.stringify(row)],
      );
      await db.query(
        `UPDATE executions SET status = $2, error = $3::json, worker_id = NULL, completed_at = clock_timestamp(),
           started_at = clock_timestamp() - $4::double precision * interval '1 second' WHERE id = $1`,
        [execution?.id, status, status === 'failed' ? JSON.stringify(error) : null, seconds],
      );
      return execution?.id ?? 0;
    },
    history: () => readHistory(admin),
    told: () => outside.to(`POST ${path}`).map(({ body }) => body as { type: string; data: TellData }),
  };
}
