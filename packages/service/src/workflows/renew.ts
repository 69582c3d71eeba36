import type { Database } from '@millrace/database/database';
import type { NodeRegistry } from '@millrace/engine';
import { ApiError, notFound } from '@millrace/errors/errors';
import type { AuditActor } from '@millrace/identity/audit/store';
import { findConnector, listUsers } from '@millrace/own-connectors/store';
import { typesOfOrganisation } from '@millrace/own-connectors/types';
import { recordWorkflowChange } from './record.ts';
import { type Author, readLockedWorkflow, renewTypes } from './save.ts';

/** Workflows of one step. Each takes a check of its flow and a transaction. */
const STEP = 20;

/** A workflow that stays as it is, and why. */
interface Refused {
  readonly workflow: { readonly id: number; readonly name: string };
  readonly error: ApiError;
}

/** What one step did. */
export interface RenewStep {
  readonly saved: number;
  readonly refused: readonly Refused[];
  /** Where the next step begins; null: all workflows have been seen. */
  readonly next: number | null;
}

/**
 * Saves some of the workflows that run with an earlier revision of a connector again, so that they run with the newest. Each by a transaction
 * of its own; executions under way keep the version, and so the revision, that they have.
 * @param after the `next` of the step before; 0: the first
 * @throws ApiError `not_found`
 */
export async function renewWorkflows(
  { db, registry }: { readonly db: Database; readonly registry: NodeRegistry },
  author: Author,
  connector: string,
  by: AuditActor,
  after = 0,
): Promise<RenewStep> {
  const { organisationId } = author;
  const { title, outdated } = await db.forOrganisation(organisationId, async (tx) => {
    const found = await findConnector(tx, organisationId, connector);
    if (found === undefined || found.is_deleted) throw notFound('connector');
    const before = found.revision;
    const users = await listUsers(tx, organisationId, connector, { before, after, limit: STEP });
    return { title: `${connector} ${found.revision}`, outdated: users };
  });
  const refused: Refused[] = [];
  for (const { id, name } of outdated) {
    try {
      await db.forOrganisation(organisationId, async (tx) => {
        const types = await typesOfOrganisation(registry, tx, organisationId);
        const row = await readLockedWorkflow(tx, author, id);
        const renewed = await renewTypes(tx, { ...author, message: title }, row, types);
        await recordWorkflowChange(tx, { organisationId, by }, 'workflow.saved', id, {
          version: renewed.version,
        });
      });
    } catch (error) {
      // Deleted or archived meanwhile, or it has problems with the newest revision: it is about this one.
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      refused.push({ workflow: { id, name }, error });
    }
  }
  const next = outdated.length < STEP ? null : (outdated.at(-1)?.id ?? null);
  return { saved: outdated.length - refused.length, refused, next };
}
