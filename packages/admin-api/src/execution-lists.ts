import { EXECUTION_STATUSES } from '@millrace/engine';
import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { ExecutionItem } from './executions.ts';
import { Closed, Id, Nullable, pageQuery, Timestamp } from './forms.ts';

const STATUS = `(${EXECUTION_STATUSES.join('|')})`;
/** Comma-separated values. */
const STATUS_LIST = `^${STATUS}(,${STATUS})*$`;

/** Comma-separated ids; 200 at most. */
const ID_LIST = '^[1-9]\\d{0,15}(,[1-9]\\d{0,15}){0,199}$';

/** Where a text is looked for. */
export const SEARCHED_IN = ['name', 'keys', 'error', 'input'] as const;

/** Which executions a list shows. */
const executionFilters = {
  status: Type.Optional(Type.String({ pattern: STATUS_LIST, maxLength: 200 })),
  workflow: Type.Optional(Id),
  trigger: Type.Optional(Type.String({ pattern: '^[a-z_]{1,40}$' })),
  test: Type.Optional(Type.Enum(['yes', 'no'], { type: 'string' })),
  /** What is looked for, case-insensitive. */
  text: Type.Optional(Type.String({ maxLength: 255 })),
  /** What it is looked for in; by default the display name. A search key must be the whole text, an error contain all its words. */
  in: Type.Optional(Type.Enum([...SEARCHED_IN], { type: 'string' })),
  /** The key that started it; like `ip`, only for roles that may read the audit log. */
  key: Type.Optional(Id),
  /** Part of the address it was started from. */
  ip: Type.Optional(Type.String({ maxLength: 100 })),
  after: Type.Optional(Timestamp),
  before: Type.Optional(Timestamp),
};

const listQuery = {
  ...executionFilters,
  /** Only these, if they exist, regardless of other filters; in their current state. */
  ids: Type.Optional(Type.String({ pattern: ID_LIST, maxLength: 4_000 })),
};

/** Executions of a workflow that ended in an hour or a day, without tests and drafts. */
const RunBar = Closed({
  at: Timestamp,
  completed: Type.Integer({ minimum: 0 }),
  failed: Type.Integer({ minimum: 0 }),
  /** How long half of them, and 95 % of them, took at most, about; null without any. */
  median_ms: Nullable(Type.Integer({ minimum: 0 })),
  p95_ms: Nullable(Type.Integer({ minimum: 0 })),
});
export type RunBar = Static<typeof RunBar>;
export const RUN_RANGES = ['day', 'week', 'month', 'quarter'] as const;

/** Filters as in the page's address: a relative range stays relative. */
const ViewFilters = Closed({
  ...executionFilters,
  range: Type.Optional(Type.Enum(['hour', 'day', 'week', 'month', 'custom'], { type: 'string' })),
});
const viewFields = {
  name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
  /** For everybody in the organisation. */
  is_shared: Type.Boolean(),
  filters: ViewFilters,
};

/** Filters of the list under a name. */
const ExecutionView = Closed({ id: Id, ...viewFields, is_own: Type.Boolean(), may_delete: Type.Boolean() });
export type ExecutionView = Static<typeof ExecutionView>;

export const EXECUTION_LIST_ENDPOINTS = {
  'GET /orgs/:org/workflows/:id/runs': {
    access: 'viewer',
    summary: 'How executions of a workflow ended, by hour or by day of the organisation, oldest first',
    query: Closed({ range: Type.Enum([...RUN_RANGES], { type: 'string' }) }),
    response: Closed({
      step: Type.Enum(['hour', 'day'], { type: 'string' }),
      /** IANA name of the zone whose midnight days begin at. */
      time_zone: Type.String(),
      bars: Type.Array(RunBar),
    }),
  },
  'GET /orgs/:org/execution-views': {
    access: 'viewer',
    summary: 'Your saved views, and those shared with the organisation, by name',
    response: Closed({ items: Type.Array(ExecutionView) }),
  },
  'POST /orgs/:org/execution-views': {
    access: 'viewer',
    summary: 'Save a view, replacing yours of that name; sharing one needs the role editor',
    body: Closed(viewFields),
    response: ExecutionView,
  },
  'DELETE /orgs/:org/execution-views/:view': {
    access: 'viewer',
    summary: 'Delete one of your views; an org_admin may delete all that are shared',
  },
  'GET /orgs/:org/executions': {
    access: 'viewer',
    summary: 'Executions, newest first',
    query: Closed({ ...pageQuery, ...listQuery }),
    response: Closed({
      items: Type.Array(ExecutionItem),
      /** Cursor of the next page; null: there are no older ones. */
      next_cursor: Nullable(Type.String()),
      /**
       * Set if the page ended because of the search limit, not because it is full: everything since then was searched, and the next page
       * continues from there.
       */
      searched_back_to: Nullable(Timestamp),
    }),
  },
  'GET /orgs/:org/executions/count': {
    access: 'viewer',
    summary: 'About how many executions match',
    query: Closed(executionFilters),
    response: Closed({
      count: Type.Integer({ minimum: 0 }),
      /** `about`: an estimate by statistics; `at_least`: a search stopped before it was through. */
      precision: Type.Enum(['exact', 'about', 'at_least'], { type: 'string' }),
    }),
  },
} as const satisfies Endpoints;
