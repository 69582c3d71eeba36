import { randomBytes } from 'node:crypto';
import { stringifyJson } from '@millrace/engine';
import type { Logger } from 'pino';
import type { Database, Queryable } from '../db/database.ts';
import { joinTransaction } from '../db/join-transaction.ts';
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
 * processes that start at once one does it.
 *
 * @returns null when there was an organisation already
 */
export async function prepareFirstStart(db: Database): Promise<FirstStart | null> {
  if (await hasOrganisation(db)) return null;
  return await db.transaction(async (tx) => {
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
    return { apiKey: key.text, workflowId: workflow.id };
  });
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
