import { Readable } from 'node:stream';
import type { AuditItem, Query } from '@millrace/admin-api';
import type { Database } from '@millrace/database/database';
import { parseTimestamp } from '@millrace/engine';
import {
  type AuditFilters,
  type AuditRow,
  listAuditActions,
  listAuditBelow,
} from '@millrace/identity/audit/admin-store';
import { findChain } from '@millrace/identity/audit/chain-store';
import { insertAudit } from '@millrace/identity/audit/store';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createReadPage } from '../http/list.ts';
import { type AdminCall, adminRoute } from '../http/route.ts';
import { CSV_HEAD, toCsvRow, toJsonLine } from './export.ts';
import { presentAudit, presentChain } from './present.ts';

/** Entries read per statement of an export. */
const EXPORT_BATCH = 500;

/** The audit log: read, filter, export. It can't be changed. */
export function auditRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const readPage = createReadPage(deps);

  adminRoute(app, deps, 'GET /orgs/:org/audit', (call) => {
    const { id } = call.organisation;
    const { limit: _limit, cursor: _cursor, ...given } = call.query;
    const filters = readFilters(given);
    return readPage(call, {
      filters: given,
      read: (belowId, limit) =>
        db.forOrganisation(id, (tx) => listAuditBelow(tx, id, filters, belowId, limit)),
      present: presentAudit,
    });
  });

  adminRoute(app, deps, 'GET /orgs/:org/audit/actions', async ({ organisation: { id } }) => ({
    items: await db.forOrganisation(id, (tx) => listAuditActions(tx, id)),
  }));

  adminRoute(app, deps, 'GET /orgs/:org/audit/chain', async ({ organisation: { id } }) =>
    presentChain(await db.forOrganisation(id, (tx) => findChain(tx, id))),
  );

  adminRoute(app, deps, 'GET /orgs/:org/audit/csv', (call) =>
    sendExport(db, call, { format: 'csv', type: 'text/csv; charset=utf-8', head: CSV_HEAD, line: toCsvRow }),
  );

  adminRoute(app, deps, 'GET /orgs/:org/audit/jsonl', (call) =>
    sendExport(db, call, { format: 'jsonl', type: 'application/jsonl', head: '', line: toJsonLine }),
  );
}

interface ExportForm {
  readonly format: 'csv' | 'jsonl';
  readonly type: string;
  readonly head: string;
  readonly line: (item: AuditItem) => string;
}

type Export = AdminCall<'GET /orgs/:org/audit/csv'> | AdminCall<'GET /orgs/:org/audit/jsonl'>;

/** Recorded first: an interrupted export is an export, too. */
async function sendExport(db: Database, call: Export, form: ExportForm): Promise<FastifyReply> {
  const { organisation, actor, reply, query } = call;
  const filters = readFilters(query);
  await insertAudit(db, {
    organisationId: organisation.id,
    action: 'audit_log.exported',
    by: actor,
    details: { format: form.format, filters: { ...query } },
  });
  const day = new Date().toISOString().slice(0, 10);
  return reply
    .header('content-disposition', `attachment; filename="audit-log-${day}.${form.format}"`)
    .type(form.type)
    .send(Readable.from(exportLines(db, organisation.id, filters, form)));
}

/**
 * One statement per batch, so that a slow reader keeps no transaction open. Entries added meanwhile have higher ids than the first batch.
 */
async function* exportLines(
  db: Database,
  organisationId: number,
  filters: AuditFilters,
  { head, line }: ExportForm,
): AsyncGenerator<string> {
  if (head !== '') yield head;
  let belowId: number | null = null;
  for (;;) {
    const from: number | null = belowId;
    const rows: AuditRow[] = await db.forOrganisation(organisationId, (tx) =>
      listAuditBelow(tx, organisationId, filters, from, EXPORT_BATCH),
    );
    if (rows.length > 0) yield rows.map((row) => line(presentAudit(row))).join('');
    belowId = rows.at(-1)?.id ?? null;
    if (rows.length < EXPORT_BATCH) return;
  }
}

function readFilters(query: Query<'GET /orgs/:org/audit/csv'>): AuditFilters {
  const { action, actor, who, about, from, to, ip } = query;
  return {
    action: action ?? null,
    actor: actor ?? null,
    who: who ?? null,
    about: about ?? null,
    from: from === undefined ? null : parseTimestamp(from),
    to: to === undefined ? null : parseTimestamp(to),
    ip: ip ?? null,
  };
}
