import { Divider, NavLink, Stack, Text, Tooltip } from '@mantine/core';
import { isAtLeast, type Role } from '@millrace/admin-api';
import { Link, useLocation } from '@tanstack/react-router';
import {
  Activity,
  BadgeCheck,
  Building2,
  ContactRound,
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
import { useTranslation } from 'react-i18next';
import { useOrg, useRole } from '../api/me.ts';

type Name =
  | 'workflows'
  | 'templates'
  | 'executions'
  | 'approvals'
  | 'credentials'
  | 'keys'
  | 'members'
  | 'audit'
  | 'settings'
  | 'organisations'
  | 'accounts'
  | 'system';

interface Place {
  readonly name: Name;
  /** Below the organisation; with a slash in front: the whole path. */
  readonly path: string;
  readonly icon: LucideIcon;
  readonly needs: Role;
}

const WORK: readonly Place[] = [
  { name: 'workflows', path: 'workflows', icon: Workflow, needs: 'viewer' },
  { name: 'executions', path: 'executions', icon: Activity, needs: 'viewer' },
  { name: 'approvals', path: 'approvals', icon: BadgeCheck, needs: 'viewer' },
  { name: 'templates', path: 'templates', icon: LayoutTemplate, needs: 'viewer' },
  { name: 'credentials', path: 'credentials', icon: LockKeyhole, needs: 'editor' },
];
const ADMINISTRATION: readonly Place[] = [
  { name: 'keys', path: 'keys', icon: KeyRound, needs: 'org_admin' },
  { name: 'members', path: 'members', icon: Users, needs: 'org_admin' },
  { name: 'audit', path: 'audit', icon: ScrollText, needs: 'org_admin' },
  { name: 'settings', path: 'settings', icon: Settings2, needs: 'org_admin' },
  { name: 'organisations', path: 'organisations', icon: Building2, needs: 'system_admin' },
  { name: 'accounts', path: 'accounts', icon: ContactRound, needs: 'system_admin' },
  { name: 'system', path: 'system', icon: Server, needs: 'system_admin' },
];

/** The part of an organisation that a path is in, to go on there in another one; the workflows where the role forbids it. */
export function sectionFor(pathname: string, role: Role): string {
  const section = pathname.split('/')[3];
  const place = [...WORK, ...ADMINISTRATION].find(({ path }) => path === section);
  return place !== undefined && isAtLeast(role, place.needs) ? place.path : 'workflows';
}

/** Where one can go; what the role does not allow is not there. */
export function Navigation({ isNarrow }: { readonly isNarrow: boolean }) {
  const { t } = useTranslation();
  const { can } = useRole();
  const administration = ADMINISTRATION.filter(({ needs }) => can(needs));
  return (
    <Stack gap={2} component="nav" aria-label={t('shell.mainNavigation')}>
      {WORK.filter(({ needs }) => can(needs)).map((place) => (
        <PlaceLink key={place.name} place={place} isNarrow={isNarrow} />
      ))}
      {administration.length > 0 && isNarrow && <Divider my="xs" />}
      {administration.length > 0 && !isNarrow && (
        <Text size="xs" c="dimmed" fw={600} mt="sm" px="xs">
          {t('shell.administration')}
        </Text>
      )}
      {administration.map((place) => (
        <PlaceLink key={place.name} place={place} isNarrow={isNarrow} />
      ))}
    </Stack>
  );
}

function PlaceLink({
  place: { name, path, icon: Icon },
  isNarrow,
}: {
  readonly place: Place;
  readonly isNarrow: boolean;
}) {
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const to = `/o/${useOrg()}/${path}`;
  const isHere = pathname === to || pathname.startsWith(`${to}/`);
  const label = t(`shell.${name}`);
  return (
    <Tooltip label={label} position="right" disabled={!isNarrow}>
      <NavLink
        component={Link}
        to={to}
        label={isNarrow ? null : label}
        aria-label={isNarrow ? label : undefined}
        leftSection={<Icon size={16} aria-hidden />}
        active={isHere}
        aria-current={isHere ? 'page' : undefined}
        mih={isNarrow ? 36 : undefined}
        py={6}
        style={{ borderRadius: 'var(--mantine-radius-sm)' }}
      />
    </Tooltip>
  );
}
