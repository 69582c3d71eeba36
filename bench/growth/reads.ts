import { type Grown, ORGANISATIONS } from './history.ts';

/** Something that is read by one of the two APIs. */
export interface Read {
  readonly id: string;
  readonly label: string;
  readonly by: 'key' | 'session';
  readonly path: (grown: Grown) => string;
  /** Pages to skip before the measured one, as a part of all pages; 0 without. */
  readonly depth?: number;
}

/** Items of a page; the new database has one page for each organisation. */
export const PAGE_ITEMS = 100;

/** How many pages the organisation that is looked at has. */
export function pagesOf({ rows }: Grown): number {
  return Math.floor(rows / ORGANISATIONS / PAGE_ITEMS);
}

const hoursAgo = (hours: number) =>
  encodeURIComponent(new Date(Date.now() - hours * 3_600_000).toISOString());
const NOBODY = 'nobody-has-this';

/** What the list is filtered by: of the public API and of the administration's. */
const PUBLIC_FILTERS: Readonly<Record<string, (grown: Grown) => string>> = {
  completed: () => 'status=completed',
  failed: () => 'status=failed',
  'cancelled (none)': () => 'status=cancelled',
  'running (none)': () => 'status=running',
  workflow: (g) => `workflow_id=${g.workflowId}`,
  'workflow and failed': (g) => `workflow_id=${g.workflowId}&status=failed`,
  'workflow and cancelled (none)': (g) => `workflow_id=${g.workflowId}&status=cancelled`,
  'one hour, ten days ago': () => `created_after=${hoursAgo(240)}&created_before=${hoursAgo(239)}`,
  'before everything (none)': () => `created_before=${hoursAgo(24_000)}`,
};

const ADMIN_FILTERS: Readonly<Record<string, (grown: Grown) => string>> = {
  completed: () => 'status=completed',
  'failed or cancelled': () => 'status=failed,cancelled',
  'cancelled (none)': () => 'status=cancelled',
  'open (none)': () => 'status=queued,running,waiting_async',
  workflow: (g) => `workflow=${g.workflowId}`,
  'workflow and cancelled (none)': (g) => `workflow=${g.workflowId}&status=cancelled`,
  'trigger schedule (none)': () => 'trigger=schedule',
  'trigger webhook (none)': () => 'trigger=webhook',
  'test mode (none)': () => 'test=yes',
  'key (none)': () => 'key=999999',
  'address (none)': () => 'ip=203.0.113.77',
  'name (none)': () => `text=${NOBODY}&in=name`,
  'search key (none)': () => `text=${NOBODY}&in=keys`,
  'error (none)': () => `text=${NOBODY}&in=error`,
  'input (none)': () => `text=${NOBODY}&in=input`,
  'one hour, ten days ago': () => `after=${hoursAgo(240)}&before=${hoursAgo(239)}`,
};

const publicList = (filter: string) => `/api/v1/executions?limit=${PAGE_ITEMS}${filter}`;
const adminPath = ({ tenant }: Grown, rest: string) => `/api/admin/orgs/${tenant.organisationId}/${rest}`;
const adminList = (grown: Grown, filter: string) =>
  adminPath(grown, `executions?limit=${PAGE_ITEMS}${filter}`);
const idOf = (title: string) => title.replaceAll(/[^a-z]+/g, '_').replace(/_$/, '');

/** Every list and filter of both APIs, one execution, and what else looks at many. */
export const READS: readonly Read[] = [
  { id: 'public', label: 'public list: first page', by: 'key', path: () => publicList('') },
  { id: 'public_deep', label: 'public list: deep page', by: 'key', depth: 0.5, path: () => publicList('') },
  ...Object.entries(PUBLIC_FILTERS).map(
    ([title, filter]): Read => ({
      id: `public_${idOf(title)}`,
      label: `public list: ${title}`,
      by: 'key',
      path: (grown) => publicList(`&${filter(grown)}`),
    }),
  ),
  {
    id: 'public_one',
    label: 'public: one execution',
    by: 'key',
    path: (grown) => `/api/v1/executions/${grown.executionId}`,
  },
  { id: 'admin', label: 'admin list: first page', by: 'session', path: (grown) => adminList(grown, '') },
  {
    id: 'admin_deep',
    label: 'admin list: deep page',
    by: 'session',
    depth: 0.5,
    path: (grown) => adminList(grown, ''),
  },
  ...Object.entries(ADMIN_FILTERS).map(
    ([title, filter]): Read => ({
      id: `admin_${idOf(title)}`,
      label: `admin list: ${title}`,
      by: 'session',
      path: (grown) => adminList(grown, `&${filter(grown)}`),
    }),
  ),
  {
    id: 'admin_one',
    label: 'admin: one execution',
    by: 'session',
    path: (grown) => adminPath(grown, `executions/${grown.executionId}`),
  },
  {
    id: 'admin_count',
    label: 'admin: number of executions',
    by: 'session',
    path: (grown) => adminPath(grown, 'executions/count'),
  },
  {
    id: 'admin_workflows',
    label: 'admin: list of workflows',
    by: 'session',
    path: (grown) => adminPath(grown, 'workflows'),
  },
];
