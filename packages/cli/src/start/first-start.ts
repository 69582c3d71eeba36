import { randomBytes } from 'node:crypto';
import { SCOPES } from '@millrace/admin-api';
import type { Database, Queryable } from '@millrace/database/database';
import { joinTransaction } from '@millrace/database/join-transaction';
import { type RetryOptions, retryWhileUnavailable } from '@millrace/database/retry';
import { stringifyJson } from '@millrace/engine';
import { issueKey } from '@millrace/identity/api-keys/keys';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { makeSetupToken } from '@millrace/identity/setup/setup';
import { insertWorkflow } from '@millrace/service/workflows/store';
import { SAMPLE_WORKFLOW } from './sample-workflow.ts';

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
    return await db.transaction((tx) => fill(db, tx, makesKey, attempts));
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
  attempts: FirstStart[],
): Promise<FirstStart | null> {
  await tx.query('LOCK TABLE organisations IN SHARE ROW EXCLUSIVE MODE');
  if (await hasOrganisation(tx)) return null;
  const joined = joinTransaction(db, tx);
  const { id: organisationId } = await createOrganisation(joined, 'Main', SERVICE);
  const issue = { organisationId, name: 'First key', scopes: SCOPES };
  const key = makesKey ? await issueKey(joined, issue, SERVICE) : null;
  const workflow = await insertWorkflow(tx, {
    organisationId,
    name: SAMPLE_WORKFLOW.name,
    description: SAMPLE_WORKFLOW.description,
    status: 'active',
    tags: ['sample'],
    isTestMode: false,
    triggerType: SAMPLE_WORKFLOW.triggerType,
    webhookHash: randomBytes(32).toString('base64url'),
    flowData: stringifyJson(SAMPLE_WORKFLOW.flowData),
    apiKeyId: key?.row.id ?? null,
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
