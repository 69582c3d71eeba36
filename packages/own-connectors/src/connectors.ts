import { createHash } from 'node:crypto';
import type { OwnFileCheck, OwnFileFacts } from '@millrace/connectors/own-check';
import type { Database, Queryable } from '@millrace/database/database';
import { ApiError, notFound } from '@millrace/errors/errors';
import { type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { message } from '@millrace/messages';
import { checkConnectorInThread } from '@millrace/ports/connector-checks';
import {
  findConnector,
  findFile,
  insertRevision,
  listConnectors,
  listUsers,
  lockConnectors,
  markDeleted,
  pruneRevisions,
  readUsage,
} from './store.ts';

/** Connectors of an organisation. */
const MAX_CONNECTORS = 50;
/** Of the newest revisions together: editors load their node types at once. */
const MAX_BYTES = 2 * 1024 * 1024;
/** With earlier revisions that saved workflows have. */
const MAX_STORED_BYTES = 64 * 1024 * 1024;
/** Workflows that a refusal names. */
const MAX_NAMED = 20;

export { findFile, listConnectors };

/** What an upload did. */
export interface Uploaded {
  readonly name: string;
  readonly revision: number;
  /** False: the file is the same as before. */
  readonly isNew: boolean;
}

/** A file that can be stored. */
interface CheckedFile extends OwnFileFacts {
  /** As it is stored. */
  readonly text: string;
  readonly bytes: number;
  readonly hash: Buffer;
}

/**
 * Reads a file.
 * @param organisationId the organisations' files take turns
 * @throws ApiError `invalid_connector` with a pointer into the file per fault
 */
export async function readUpload(given: string, organisationId: number): Promise<CheckedFile> {
  const checked = await checkConnectorInThread(given, organisationId);
  if (checked.kind === 'faulty') throw refusal(checked.faults);
  const { facts, text } = checked;
  const hash = createHash('sha256').update(text).digest();
  return { ...facts, text, bytes: Buffer.byteLength(text), hash };
}

type Faults = Extract<OwnFileCheck, { kind: 'faulty' }>['faults'];

function refusal(faults: Faults): ApiError {
  return new ApiError('invalid_connector', message('service.connector_faults', { count: faults.length }), {
    errors: faults.map(({ pointer, message: fault }) => ({
      pointer,
      code: 'invalid_value',
      message: fault,
    })),
  });
}

/**
 * Stores a file as the newest revision of its connector and records that.
 * @throws ApiError `too_many_connectors`, `storage_full`
 */
export function uploadConnector(
  db: Database,
  organisationId: number,
  file: CheckedFile,
  by: AuditActor,
): Promise<Uploaded> {
  const { id: name, title, operations, triggers, text, bytes, hash } = file;
  return db.forOrganisation(organisationId, async (tx) => {
    await lockConnectors(tx, organisationId);
    const before = await findConnector(tx, organisationId, name);
    if (before !== undefined && !before.is_deleted && before.file_hash.equals(hash)) {
      return { name, revision: before.revision, isNew: false };
    }
    await pruneRevisions(tx, organisationId);
    await refuseBeyondLimits(tx, organisationId, name, bytes);
    const revision = (before?.revision ?? 0) + 1;
    await insertRevision(tx, {
      ...{ organisationId, name, revision, title, file: text, hash, bytes },
      ...{ operations, triggers },
      userId: by.actor === 'user' ? by.userId : null,
    });
    const details = { name, revision, file_sha256: hash.toString('hex') };
    await insertAudit(tx, { organisationId, action: 'connector.uploaded', by, details });
    return { name, revision, isNew: true };
  });
}

async function refuseBeyondLimits(
  tx: Queryable,
  organisationId: number,
  name: string,
  bytes: number,
): Promise<void> {
  const usage = await readUsage(tx, organisationId, name);
  if (usage.others >= MAX_CONNECTORS) {
    throw new ApiError(
      'too_many_connectors',
      message('service.too_many_connectors', { max: MAX_CONNECTORS }),
    );
  }
  const isFull = usage.other_bytes + bytes > MAX_BYTES;
  if (!isFull && usage.stored_bytes + bytes <= MAX_STORED_BYTES) return;
  throw new ApiError(
    'too_many_connectors',
    isFull
      ? message('service.connectors_too_large', { max: MAX_BYTES })
      : message('service.connector_revisions_too_large', { max: MAX_STORED_BYTES }),
  );
}

/**
 * Deletes a connector and records that. Versions of workflows that were saved with it can still be run.
 * @throws ApiError `not_found`, `connector_in_use` naming the workflows
 */
export function deleteConnector(
  db: Database,
  organisationId: number,
  name: string,
  by: AuditActor,
): Promise<void> {
  return db.forOrganisation(organisationId, async (tx) => {
    await lockConnectors(tx, organisationId);
    const found = await findConnector(tx, organisationId, name);
    if (found === undefined || found.is_deleted) throw notFound('connector');
    const users = await listUsers(tx, organisationId, name, { limit: MAX_NAMED });
    if (users.length > 0) {
      const workflows = users.map(({ id, name: called }) => `${id} (${JSON.stringify(called)})`).join(', ');
      throw new ApiError('connector_in_use', message('service.connector_in_use', { workflows }));
    }
    await markDeleted(tx, organisationId, name);
    await insertAudit(tx, { organisationId, action: 'connector.deleted', by, details: { name } });
  });
}
