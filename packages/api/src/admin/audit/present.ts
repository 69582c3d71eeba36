import type { AuditChain, AuditChainProblem, AuditItem } from '@millrace/admin-api';
import { type JsonObject, parseJson } from '@millrace/engine';
import type { AuditRow } from '@millrace/identity/audit/admin-store';
import type { ChainRow } from '@millrace/identity/audit/chain-store';
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

/** @param row undefined until something was sealed */
export function presentChain(row: ChainRow | undefined): AuditChain {
  return {
    verified_at: row?.verified_at?.toISOString() ?? null,
    verified_entries: row?.verified_entries ?? 0,
    problem: typeof row?.problem === 'string' ? (JSON.parse(row.problem) as AuditChainProblem) : null,
    length: row?.length ?? 0,
    head: row === undefined || row.length === 0 ? null : row.head.toString('hex'),
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
