import { randomBytes } from 'node:crypto';
import { SCOPES } from '@millrace/admin-api';
import type { Database, Queryable } from '@millrace/database/database';
import { joinTransaction } from '@millrace/database/join-transaction';
import { type RetryOptions, retryWhileUnavailable } from '@millrace/database/retry';
import { stringifyJson } from '@millrace/engine';
import { issueKey } from '@millrace/identity/api-keys/keys';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { makeSetupToken } from '@millrace/identity/setup/setup';
import { registry } from '@millrace/nodes';
import { getTemplate, SAMPLE_TEMPLATE, type Template } from '@millrace/service/templates/catalogue';
import { triggerTypesOf } from '@millrace/service/workflows/rules';
import { insertWorkflow } from '@millrace/service/workflows/store';

/** What an empty database is initialised with. */
export interface FirstStart {
  /** Shown once; only its hash is stored. Null: nobody would see it, so none was created. */
  readonly apiKey: string | null;
  readonly workflowId: number;
}

const SERVICE = { actor: 'service' } as const;

/**
 * Creates an empty database's first organisation, API key and workflow in one transaction, so that only one of several processes starting
 * at once does it. If the response to its commit is lost, it looks for the key it created: no other process could print it.
 *
 * @param makesKey false: keys have to be created with the command line
 * @returns null if there was an organisation already
 */
export async function prepareFirstStart(
  db: Database,
  makesKey: boolean,
  retry: RetryOptions = {},
): Promise<FirstStart | null> {
  const attempts: FirstStart[] = [];
  return retryWhileUnavailable(async () => {
    if (await hasOrganisation(db)) return await findStored(db, attempts);
    const sample = await getTemplate(SAMPLE_TEMPLATE);
    return await db.transaction((tx) => fill(db, tx, makesKey, sample, attempts));
  }, retry);
}

/** Ids come from a sequence, so if this workflow exists, this process stored it. */
async function findStored(db: Queryable, attempts: readonly FirstStart[]): Promise<FirstStart | null> {
  if (attempts.length === 0) return null;
  const rows = await db.query<{ id: number }>('SELECT id FROM workflows WHERE id = ANY ($1)', [
    attempts.map(({ workflowId }) => workflowId),
  ]);
  return attempts.find(({ workflowId }) => rows.some((row) => row.id === workflowId)) ?? null;
}

async function fill(
  db: Database,
  tx: Queryable,
  makesKey: boolean,
  sample: Template,
  attempts: FirstStart[],
): Promise<FirstStart | null> {
  await tx.query('LOCK TABLE organisations IN SHARE ROW EXCLUSIVE MODE');
  if (await hasOrganisation(tx)) return null;
  const joined = joinTransaction(db, tx);
  const { id: organisationId } = await createOrganisation(joined, 'Main', SERVICE);
  const issue = { organisationId, name: 'First key', scopes: SCOPES };
  const key = makesKey ? await issueKey(joined, issue, SERVICE) : null;
  const { name, description = '', tags = [], flow_data: flow } = sample.workflow;
  const triggers = triggerTypesOf(flow, registry);
  const workflow = await insertWorkflow(tx, {
    organisationId,
    name,
    description,
    status: 'active',
    tags,
    isTestMode: false,
    triggerType: triggers.first,
    otherTriggers: triggers.others,
    webhookHash: randomBytes(32).toString('base64url'),
    flowData: stringifyJson(flow),
    apiKeyId: key?.row.id ?? null,
    templateId: sample.id,
  });
  const attempt = { apiKey: key?.text ?? null, workflowId: workflow.id };
  attempts.push(attempt);
  return attempt;
}

async function hasOrganisation(db: Queryable): Promise<boolean> {
  return (await db.query('SELECT FROM organisations LIMIT 1')).length > 0;
}

/**
 * The link for creating the first account, while there is none. It grants system administration, so it is printed and never logged. Its
 * token comes after #, which browsers never send.
 */
export async function makeSetupUrl(db: Database, publicUrl: string): Promise<string | null> {
  const token = await makeSetupToken(db);
  return token === null ? null : `${publicUrl}/setup#token=${token}`;
}
