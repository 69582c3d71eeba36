import { isAtLeast, type Role } from '@millrace/admin-api';
import {
  Activity,
  BadgeCheck,
  BellRing,
  Building2,
  ContactRound,
  Database,
  KeyRound,
  LayoutTemplate,
  LockKeyhole,
  type LucideIcon,
  ScrollText,
  Server,
  Settings2,
  Users,
  Workflow,
} from 'lucide-react';

type Name =
  | 'workflows'
  | 'templates'
  | 'executions'
  | 'approvals'
  | 'credentials'
  | 'ai-data'
  | 'keys'
  | 'members'
  | 'alerts'
  | 'audit'
  | 'settings'
  | 'organisations'
  | 'accounts'
  | 'system';

/** A page of an organisation in the navigation. */
export interface NavigationItem {
  readonly name: Name;
  /** Relative to the organisation; absolute with a leading slash. */
  readonly path: string;
  readonly icon: LucideIcon;
  /** The role it needs; everyone else sees an explanation. */
  readonly needs: Role;
}

export const WORK_ITEMS: readonly NavigationItem[] = [
  { name: 'workflows', path: 'workflows', icon: Workflow, needs: 'viewer' },
  { name: 'executions', path: 'executions', icon: Activity, needs: 'viewer' },
  { name: 'approvals', path: 'approvals', icon: BadgeCheck, needs: 'viewer' },
  { name: 'templates', path: 'templates', icon: LayoutTemplate, needs: 'viewer' },
  { name: 'credentials', path: 'credentials', icon: LockKeyhole, needs: 'editor' },
  { name: 'ai-data', path: 'ai-data', icon: Database, needs: 'viewer' },
];
export const ADMINISTRATION_ITEMS: readonly NavigationItem[] = [
  { name: 'keys', path: 'keys', icon: KeyRound, needs: 'org_admin' },
  { name: 'members', path: 'members', icon: Users, needs: 'org_admin' },
  { name: 'alerts', path: 'alerts', icon: BellRing, needs: 'org_admin' },
  { name: 'audit', path: 'audit', icon: ScrollText, needs: 'org_admin' },
  { name: 'settings', path: 'settings', icon: Settings2, needs: 'org_admin' },
  { name: 'organisations', path: 'organisations', icon: Building2, needs: 'system_admin' },
  { name: 'accounts', path: 'accounts', icon: ContactRound, needs: 'system_admin' },
  { name: 'system', path: 'system', icon: Server, needs: 'system_admin' },
];

/** The navigation item that a path of an organisation belongs to; undefined for other paths. */
export function navigationItemAt(pathname: string): NavigationItem | undefined {
  const section = pathname.split('/')[3];
  return [...WORK_ITEMS, ...ADMINISTRATION_ITEMS].find(({ path }) => path === section);
}

/** The section of a path, to stay in it when switching organisations; the workflows if the role forbids it. */
export function sectionFor(pathname: string, role: Role): string {
  const place = navigationItemAt(pathname);
  return place !== undefined && isAtLeast(role, place.needs) ? place.path : 'workflows';
}
