import type { ApiKey } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { parseTimestamp } from '@millrace/engine';
import { notFound } from '@millrace/errors/errors';
import { pathId } from '@millrace/http/ids';
import {
  findKeyItem,
  type KeyItemRow,
  listDueKeys,
  listKeyItemsBelow,
} from '@millrace/identity/api-keys/admin-store';
import { listFormerUses } from '@millrace/identity/api-keys/former-uses';
import { type IssuedKey, issueKey, revokeKey, rotateKey, unlockKey } from '@millrace/identity/api-keys/keys';
import { effectiveScopes } from '@millrace/identity/values/roles';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createReadPage } from '../http/list.ts';
import { type AdminCall, adminRoute } from '../http/route.ts';

const MAX_REMINDERS = 100;

/** API keys: org admins issue, rotate, revoke and unlock them. */
export function apiKeyRoutes(app: FastifyInstance, deps: AppDeps): void {
  addLists(app, deps);
  addIssues(app, deps);
  addEndings(app, deps);
}

function addLists(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const readPage = createReadPage(deps);

  adminRoute(app, deps, 'GET /orgs/:org/keys', (call) => {
    const { id } = call.organisation;
    const { ended = false } = call.query;
    return readPage(call, {
      filters: { ended: String(ended) },
      read: (belowId, limit) =>
        db.transaction(async (tx) => withUses(tx, await listKeyItemsBelow(tx, id, ended, belowId, limit))),
      present,
    });
  });

  adminRoute(app, deps, 'GET /orgs/:org/key-reminders', async ({ organisation: { id } }) => {
    const rows = await db.forOrganisation(id, (tx) => listDueKeys(tx, id, MAX_REMINDERS));
    return { items: rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() })) };
  });
}

function addIssues(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;
  const apiUrl = `${config.publicUrl}/api/v1`;

  adminRoute(app, deps, 'POST /orgs/:org/keys', async ({ actor, organisation, body }) => {
    const issue = {
      organisationId: organisation.id,
      name: body.name,
      scopes: body.scopes,
      expiresAt: body.expires_at === null ? null : parseTimestamp(body.expires_at),
    };
    const issued = await issueKey(db, issue, actor);
    return { key: await shown(deps, organisation.id, issued), secret: issued.text, api_url: apiUrl };
  });

  adminRoute(app, deps, 'POST /orgs/:org/keys/:key/rotate', async (call) => {
    const { organisation, actor } = call;
    const reference = await ownKey(deps, call);
    const issued = await rotateKey(db, reference, actor);
    return {
      key: await shown(deps, organisation.id, issued),
      secret: issued.text,
      api_url: apiUrl,
      predecessor: await readKey(deps, organisation.id, reference.id),
    };
  });
}

function addEndings(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;

  adminRoute(app, deps, 'POST /orgs/:org/keys/:key/revoke', async (call) => {
    const reference = await ownKey(deps, call);
    await revokeKey(db, reference, call.actor);
    return readKey(deps, call.organisation.id, reference.id);
  });

  adminRoute(app, deps, 'POST /orgs/:org/keys/:key/unlock', async (call) => {
    const reference = await ownKey(deps, call);
    await unlockKey(db, reference, call.actor);
    return readKey(deps, call.organisation.id, reference.id);
  });
}

type OfOneKey = Pick<AdminCall<'POST /orgs/:org/keys/:key/revoke'>, 'organisation' | 'params'>;

/**
 * The key in the path; a key never changes its organisation, so it stays the organisation's after this check.
 * @throws ApiError `not_found`
 */
async function ownKey(deps: AppDeps, { organisation, params }: OfOneKey): Promise<{ readonly id: number }> {
  return { id: (await readKey(deps, organisation.id, pathId(params.key, 'api_key'))).id };
}

function shown(deps: AppDeps, organisationId: number, { row }: IssuedKey): Promise<ApiKey> {
  return readKey(deps, organisationId, row.id);
}

async function readKey({ db }: AppDeps, organisationId: number, id: number): Promise<ApiKey> {
  return db.transaction(async (tx) => {
    const row = await findKeyItem(tx, organisationId, id);
    if (row === undefined) throw notFound('api_key');
    const [item] = await withUses(tx, [row]);
    if (item === undefined) throw new Error(`key ${id} is gone although it was just read`);
    return present(item);
  });
}

type UsedKey = KeyItemRow & { readonly uses: ApiKey['uses_since_rotation'] };

async function withUses(tx: Queryable, rows: readonly KeyItemRow[]): Promise<UsedKey[]> {
  const rotated = rows.filter(({ state }) => state === 'rotated').map(({ id }) => id);
  const uses = Map.groupBy(
    rotated.length === 0 ? [] : await listFormerUses(tx, rotated),
    (use) => use.api_key_id,
  );
  return rows.map((row) => ({
    ...row,
    uses: (uses.get(row.id) ?? []).map((use) => ({ ip: use.source_ip, at: use.last_used_at.toISOString() })),
  }));
}

function present(row: UsedKey): ApiKey {
  return {
    id: row.id,
    key_id: row.key_id,
    name: row.name,
    last_four: row.last_four,
    state: row.state,
    scopes: [...row.scopes],
    effective_scopes: [...effectiveScopes(row.scopes, row.issuer)],
    issuer: row.issuer,
    issued_by: row.issued_by_email,
    created_at: row.created_at.toISOString(),
    expires_at: iso(row.expires_at),
    valid_until: iso(row.valid_until),
    rotated_at: iso(row.rotated_at),
    successor: successorOf(row),
    revoked_at: iso(row.revoked_at),
    locked_at: iso(row.locked_at),
    last_used_at: iso(row.last_used_at),
    last_used_ip: row.last_used_ip,
    is_used_since_rotation: row.is_used_since_rotation || row.uses.length > 0,
    uses_since_rotation: row.uses,
    is_due: row.is_due,
  };
}

function successorOf({
  successor_id: id,
  successor_key_id: keyId,
  successor_last_four: lastFour,
}: KeyItemRow): ApiKey['successor'] {
  return id === null || keyId === null || lastFour === null
    ? null
    : { id, key_id: keyId, last_four: lastFour };
}

function iso(moment: Date | null): string | null {
  return moment?.toISOString() ?? null;
}
