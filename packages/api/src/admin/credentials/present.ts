import { connectionOf } from '@millrace/credentials/oauth/connection-state';
import type { CredentialRow } from '@millrace/credentials/store';
import { type JsonObject, parseJson } from '@millrace/engine';

/** A credential as responses show it; this kind of row doesn't contain secrets. */
export function presentCredential(row: CredentialRow): JsonObject {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    hosts: [...row.hosts],
    fields: parseJson(row.settings),
    has_secret: row.has_secret,
    organisation_id: row.organisation_id,
    created_by: row.created_by_email,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    connection: connectionOf(row)?.state ?? null,
  };
}
