import { ADMIN_API, isAtLeast, type Query, type Role } from '@millrace/admin-api';
import { formatTimestamp, parseTimestamp, searchValueOf } from '@millrace/engine';
import { createCursors } from '@millrace/http/pagination';
import { insufficientRole } from '@millrace/identity/values/roles';
import type { AdminExecutionFilters } from '@millrace/service/executions/admin-filters';
import {
  countAdminExecutions,
  errorWordsOf,
  findAdminExecutions,
  inputTextsOf,
  parseStatuses,
} from '@millrace/service/executions/admin-list';
import { findItems } from '@millrace/service/executions/admin-store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { presentAdminItem } from './present.ts';

const LIST = 'GET /orgs/:org/executions';
const DEFAULT_LIMIT = 50;

/** The list of executions, and their number. */
export function adminListRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const cursors = createCursors(db);
  adminRoute(app, deps, LIST, async ({ organisation: { id, role }, query }) => {
    const { limit = DEFAULT_LIMIT, cursor, ids } = query ?? {};
    if (ids !== undefined) return readItems(deps, id, ids.split(',').map(Number));
    const filters = filtersFor(role, query);
    const text = textOf(query);
    const binding = {
      organisationId: id,
      endpoint: LIST,
      filters: {
        status: filters.statuses?.join() ?? null,
        workflow: filters.workflowId,
        trigger: filters.triggerType,
        test: filters.isTestMode === null ? null : String(filters.isTestMode),
        text,
        in: text === null ? null : (query?.in ?? null),
        key: filters.apiKeyId,
        ip: filters.sourceIp,
        after: filters.after?.getTime(),
        before: filters.before?.getTime(),
      },
    };
    const belowId = cursor === undefined ? null : await cursors.decode(cursor, binding);
    // One extra row shows whether there is another page.
    const { rows, searchedTo } = await db.forOrganisation(id, (tx) =>
      findAdminExecutions(tx, id, filters, belowId, limit + 1),
    );
    const items = rows.slice(0, limit).map(presentAdminItem);
    const nextBelow = rows.length > limit ? (items.at(-1)?.id ?? null) : (searchedTo?.id ?? null);
    return {
      items,
      next_cursor: nextBelow === null ? null : await cursors.encode(nextBelow, binding),
      searched_back_to:
        rows.length > limit || searchedTo === null ? null : formatTimestamp(searchedTo.created_at),
    };
  });

  adminRoute(app, deps, `${LIST}/count`, async ({ organisation: { id, role }, query }) =>
    countAdminExecutions(db, id, filtersFor(role, query)),
  );
}

async function readItems({ db }: AppDeps, organisationId: number, ids: readonly number[]) {
  const rows = await db.forOrganisation(organisationId, (tx) => findItems(tx, [organisationId], ids));
  const items = rows.sort((a, b) => b.id - a.id).map(presentAdminItem);
  return { items, next_cursor: null, searched_back_to: null };
}

/** @throws ApiError `insufficient_role` */
function filtersFor(role: Role, query: Query<`${typeof LIST}/count`>): AdminExecutionFilters {
  const filters = toFilters(query);
  if (filters.apiKeyId !== null || filters.sourceIp !== null) requireOriginReader(role);
  return filters;
}

/** Null for none. */
function textOf(query: Query<`${typeof LIST}/count`>): string | null {
  const text = query?.text?.trim() ?? '';
  return text === '' ? null : text;
}

function toFilters(query: Query<`${typeof LIST}/count`>): AdminExecutionFilters {
  const { status, workflow, trigger, test, in: place = 'name', key, ip = '', after, before } = query ?? {};
  const text = textOf(query);
  const inPlace = (wanted: typeof place) => (place === wanted ? text : null);
  const error = inPlace('error');
  const input = inPlace('input');
  const searchKey = inPlace('keys');
  const statuses = parseStatuses(status);
  return {
    // Only failed ones have an error.
    statuses: error === null ? statuses : (statuses ?? ['failed']).filter((each) => each === 'failed'),
    workflowId: workflow ?? null,
    triggerType: trigger ?? null,
    isTestMode: test === undefined ? null : test === 'yes',
    text: inPlace('name'),
    errorWords: error === null ? null : errorWordsOf(error),
    inputTexts: input === null ? null : inputTextsOf(input),
    searchKey: searchKey === null ? null : searchValueOf(searchKey),
    apiKeyId: key ?? null,
    sourceIp: ip.trim() === '' ? null : ip.trim(),
    after: after === undefined ? null : parseTimestamp(after),
    before: before === undefined ? null : parseTimestamp(before),
  };
}

/** Keys and addresses are visible only to roles that may read the audit log. */
export function mayReadOrigin(role: Role): boolean {
  return isAtLeast(role, ADMIN_API['GET /orgs/:org/audit'].access);
}

/** @throws ApiError `insufficient_role` */
function requireOriginReader(role: Role): void {
  if (mayReadOrigin(role)) return;
  const { access } = ADMIN_API['GET /orgs/:org/audit'];
  throw insufficientRole(access, role);
}
