import { navigationItemAt } from './navigation-items.ts';

/** The guides to pages, below the address of the documentation. */
const PAGE_GUIDES = {
  workflows: 'editor',
  executions: 'executions',
  approvals: 'executions#approvals',
  templates: 'examples',
  credentials: 'credentials',
  'ai-data': 'ai#what-is-stored',
  keys: 'administration#api-keys',
  members: 'accounts#inviting-someone',
  alerts: 'administration#alerts',
  audit: 'administration#audit-log',
  settings: 'administration#settings',
  organisations: 'administration',
  accounts: 'accounts#removing-someone',
  system: 'administration#system',
} as const satisfies Record<NonNullable<ReturnType<typeof navigationItemAt>>['name'], string>;

/** The address of the guide to a page; null if there is none. */
export function guideTo(pathname: string): string | null {
  const item = navigationItemAt(pathname);
  return item === undefined ? null : `/docs/guides/${PAGE_GUIDES[item.name]}`;
}
