import type { AuditItem } from '@millrace/admin-api';
import { type JsonObject, parseJson } from '@millrace/engine';
import type { AuditRow } from '@millrace/identity/audit/admin-store';
import { presentKeyOf } from '../api-keys/present.ts';

/** An audit entry as displayed and exported. */
export function presentAudit(row: AuditRow): AuditItem {
  return {
    id: row.id,
    occurred_at: row.occurred_at.toISOString(),
    action: row.action,
    actor: row.actor,
    actor_name: actorName(row),
    api_key: presentKeyOf(row),
    member: row.member_id === null ? null : { id: row.member_id, email: row.member_email ?? '' },
    source_ip: row.source_ip,
    request_id: row.request_id,
    repeats: row.repeats,
    last_occurred_at: row.last_occurred_at?.toISOString() ?? null,
    details: parseJson(row.details) as JsonObject,
  };
}

function actorName(row: AuditRow): string | null {
  switch (row.actor) {
    case 'user':
      return row.user_email;
    case 'member':
      return row.member_email;
    case 'api_key':
      return row.api_key_name;
    case 'operator':
    case 'service':
      return null;
  }
}
