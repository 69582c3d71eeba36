import { randomBytes } from 'node:crypto';
import { stringifyJson } from '@millrace/engine';
import type { Logger } from 'pino';
import type { Database, Queryable } from '../db/database.ts';
import { joinTransaction } from '../db/join-transaction.ts';
import { type Patience, whenAvailable } from '../db/patience.ts';
import { issueKey } from '../features/api-keys/keys.ts';
import { SCOPES } from '../features/members/roles.ts';
import { createOrganisation } from '../features/organisations/store.ts';
import { makeSetupToken } from '../features/setup/setup.ts';
import { insertWorkflow } from '../features/workflows/store.ts';
import { SAMPLE_WORKFLOW } from './sample-workflow.ts';

/** What a database that was empty has been given. */
export interface FirstStart {
  /** Shown once; only its hash is stored. */
  readonly apiKey: string;
  readonly workflowId: number;
}

const SERVICE = { actor: 'service' } as const;

/**
 * Gives an empty database its first organisation, API key and workflow, all in one transaction, so that of several
 * processes that start at once one does it. When the answer of its commit is lost, the key it made is looked for:
 * nobody else could tell it.
 *
 * @returns null when there was an organisation already
 */
export async function prepareFirstStart(db: Database, patience: Patience = {}): Promise<FirstStart | null> {
  const attempts: Attempt[] = [];
  const made = await whenAvailable(async () => {
    if (await hasOrganisation(db)) return await findStored(db, attempts);
    return await db.transaction((tx) => fill(db, tx, attempts));
  }, patience);
  return made === null ? null : { apiKey: made.apiKey, workflowId: made.workflowId };
}

interface Attempt extends FirstStart {
  readonly keyId: string;
}

async function findStored(db: Queryable, attempts: readonly Attempt[]): Promise<Attempt | null> {
  if (attempts.length === 0) return null;
  const rows = await db.query<{ key_id: string }>('SELECT key_id FROM api_keys WHERE key_id = ANY ($1)', [
    attempts.map(({ keyId }) => keyId),
  ]);
  return attempts.find(({ keyId }) => rows.some((row) => row.key_id === keyId)) ?? null;
}

async function fill(db: Database, tx: Queryable, attempts: Attempt[]): Promise<Attempt | null> {
  await tx.query('LOCK TABLE organisations IN SHARE ROW EXCLUSIVE MODE');
  if (await hasOrganisation(tx)) return null;
  const joined = joinTransaction(db, tx);
  const { id: organisationId } = await createOrganisation(joined, 'Main', SERVICE);
  const issue = { organisationId, name: 'First key', scopes: SCOPES };
  const key = await issueKey(joined, issue, SERVICE);
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
    apiKeyId: key.row.id,
  });
  const attempt = { apiKey: key.text, workflowId: workflow.id, keyId: key.row.key_id };
  attempts.push(attempt);
  return attempt;
}

async function hasOrganisation(db: Queryable): Promise<boolean> {
  return (await db.query('SELECT FROM organisations LIMIT 1')).length > 0;
}

/**
 * While nobody has an account: the link under which the first one is made, also for the log, because whoever can read
 * that may administer the service. Its token stands behind #, where browsers send it to nobody.
 */
export async function makeSetupUrl(db: Database, publicUrl: string, log: Logger): Promise<string | null> {
  const token = await makeSetupToken(db);
  if (token === null) return null;
  const url = `${publicUrl}/setup#token=${token}`;
  log.info({ url }, 'nobody has an account yet; the first is made here');
  return url;
}
