import { EXECUTION_STATUSES } from '@millrace/engine';
import { Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { ExecutionItem } from './executions.ts';
import { Closed, Id, Nullable, pageQuery, Timestamp } from './forms.ts';

const names = (values: readonly string[]) => `(${values.join('|')})`;
/** Comma-separated values. */
const STATUS_LIST = `^${names(EXECUTION_STATUSES)}(,${names(EXECUTION_STATUSES)})*$`;

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

export const EXECUTION_LIST_ENDPOINTS = {
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
