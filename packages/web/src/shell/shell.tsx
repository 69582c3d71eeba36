import { AppShell, Burger, Divider, Group, NavLink, Stack, Text, Tooltip } from '@mantine/core';
import { useDisclosure, useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { isAtLeast, type Role } from '@millrace/admin-api';
import { useMe, useOrg, useRole } from '@millrace/ui/api/me.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { Lock, PanelLeftClose, PanelLeftOpen, Search } from 'lucide-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { CommandButton, useCommandPalette } from './commands/command-button.tsx';
import { HelpMenu } from './help-menu.tsx';
import { rememberOrganisation } from './last-organisation.ts';
import {
  ADMINISTRATION_ITEMS,
  type NavigationItem,
  navigationItemAt,
  WORK_ITEMS,
} from './navigation-items.ts';
import { OrganisationSwitch } from './organisation-switch.tsx';
import { UserMenu } from './user-menu.tsx';

const HEADER_HEIGHT = 48;

/** The frame of all organisation pages: navigation at the left, or behind a button in a narrow window. */
export function Shell() {
  const { t } = useTranslation();
  const [isOpen, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  const isEditor = EDITOR.test(pathname);
  const { width, isNarrow, toggle: toggleWidth } = useNavigationWidth();
  useEffect(close, [pathname]);
  const { palette, open } = useCommandPalette();
  const org = useOrg();
  const belongs = useBelonging(org);
  useEffect(() => {
    if (belongs) rememberOrganisation(org);
  }, [belongs, org]);
  if (!belongs) return null;
  return (
    <AppShell
      header={{ height: { base: HEADER_HEIGHT, sm: 0 } }}
      navbar={{ width, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
    >
      <a className="skip-link" href="#content">
        {t('shell.skipToContent')}
      </a>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="sm" gap="sm">
          <Burger
            opened={isOpen}
            onClick={toggle}
            size="sm"
            aria-label={isOpen ? t('shell.closeMenu') : t('shell.openMenu')}
          />
          <Text fw={600}>{t('shell.appName')}</Text>
          <IconButton icon={Search} label={t('shell.commands')} ml="auto" onClick={open} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <AppShell.Section>
          <OrganisationSwitch isNarrow={isNarrow} />
          <CommandButton isNarrow={isNarrow} onClick={open} />
        </AppShell.Section>
        <AppShell.Section grow mt="xs" mih={0} style={{ overflowY: 'auto', scrollbarWidth: 'thin' }}>
          <Navigation isNarrow={isNarrow} />
        </AppShell.Section>
        <AppShell.Section>
          <WidthButton isNarrow={isNarrow} onToggle={toggleWidth} />
          <HelpMenu isNarrow={isNarrow} isEditor={isEditor} />
          <UserMenu isNarrow={isNarrow} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} style={{ outline: 'none' }}>
        <Content />
      </AppShell.Main>
      {palette}
    </AppShell>
  );
}

/** Whether the user belongs to the organisation; others are redirected to one of theirs. */
function useBelonging(org: number): boolean {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const me = useMe();
  const belongs = me === undefined || me.organisations.some(({ id }) => id === org);
  useEffect(() => {
    if (belongs) return;
    notifications.show({ message: t('shell.notInOrganisation'), color: 'yellow', autoClose: 10_000 });
    void navigate({ to: '/', replace: true });
  }, [belongs, navigate, t]);
  return belongs;
}

/** The page, or an explanation of the role it needs: the service would reject all of its requests. */
function Content() {
  const org = useOrg();
  const place = navigationItemAt(useLocation().pathname);
  const role = useMe()?.organisations.find(({ id }) => id === org)?.role;
  // Outside of an organisation, or in someone else's, the service responds with the error.
  if (place === undefined || role === undefined || isAtLeast(role, place.needs)) return <Outlet />;
  return <NotAllowed place={place} role={role} />;
}

function WidthButton({ isNarrow, onToggle }: { isNarrow: boolean; onToggle: () => void }) {
  const { t } = useTranslation();
  const Icon = isNarrow ? PanelLeftOpen : PanelLeftClose;
  const label = isNarrow ? t('shell.widenMenu') : t('shell.narrowMenu');
  return (
    <IconButton
      icon={Icon}
      label={label}
      hintPosition="right"
      onClick={onToggle}
      visibleFrom="sm"
      mb={4}
      size={isNarrow ? 36 : 'md'}
    />
  );
}

/** Shown if the role doesn't permit the page. */
function NotAllowed({ place, role }: { place: NavigationItem; role: Role }) {
  const { t } = useTranslation();
  return (
    <Page title={t(`shell.place.${place.name}`)}>
      <EmptyState icon={Lock} title={t('common.noPermission')}>
        {t('shell.notAllowedHint', { needs: t(`shell.role.${place.needs}`), role: t(`shell.role.${role}`) })}
      </EmptyState>
    </Page>
  );
}

const WIDE = 216;
const NARROW = 56;
/** The editor needs the room: there the navigation initially shows only icons. */
const EDITOR = /^\/o\/\d+\/workflows\/\d+(\/|$)/;

/** The navigation's width, stored separately for the editor and for all other pages. */
interface NavigationWidth {
  /** Pixels. */
  readonly width: number;
  /** Icons without labels. */
  readonly isNarrow: boolean;
  readonly toggle: () => void;
}

/** Reads and sets the navigation's width. As an overlay in a small window it always has labels. */
function useNavigationWidth(): NavigationWidth {
  const isOverlay = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const beside = useRemembered('millrace.navigation', false);
  const besideEditor = useRemembered('millrace.navigation.editor', true);
  const [isChosen, choose] = EDITOR.test(useLocation().pathname) ? besideEditor : beside;
  const isNarrow = isChosen && !isOverlay;
  return { width: isNarrow ? NARROW : WIDE, isNarrow, toggle: () => choose(!isChosen) };
}

function useRemembered(key: string, defaultValue: boolean) {
  const [value, set] = useLocalStorage({ key, defaultValue, getInitialValueInEffect: false });
  // Ignore any invalid stored value.
  return [value === true, set] as const;
}

/** Links to the pages that the role permits. */
function Navigation({ isNarrow }: { isNarrow: boolean }) {
  const { t } = useTranslation();
  const { can } = useRole();
  const administration = ADMINISTRATION_ITEMS.filter(({ needs }) => can(needs));
  return (
    <Stack gap={2} component="nav" aria-label={t('shell.mainNavigation')}>
      {WORK_ITEMS.filter(({ needs }) => can(needs)).map((place) => (
        <ItemLink key={place.name} place={place} isNarrow={isNarrow} />
      ))}
      {administration.length > 0 && isNarrow && <Divider my="xs" />}
      {administration.length > 0 && !isNarrow && (
        <Hint fw={600} mt="sm" px="xs">
          {t('shell.administration')}
        </Hint>
      )}
      {administration.map((place) => (
        <ItemLink key={place.name} place={place} isNarrow={isNarrow} />
      ))}
    </Stack>
  );
}

function ItemLink({
  place: { name, path, icon: Icon },
  isNarrow,
}: {
  place: NavigationItem;
  isNarrow: boolean;
}) {
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const to = `/o/${useOrg()}/${path}`;
  const isHere = pathname === to || pathname.startsWith(`${to}/`);
  const label = t(`shell.place.${name}`);
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
