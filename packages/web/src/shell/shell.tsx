import { AppShell, Burger, Group, ScrollArea, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { isAtLeast } from '@millrace/admin-api';
import { useMe, useOrg } from '@millrace/ui/api/me.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { rememberOrganisation } from './last-organisation.ts';
import { Navigation } from './navigation.tsx';
import { navigationItemAt } from './navigation-items.ts';
import { useNavigationWidth } from './navigation-width.ts';
import { NotAllowed } from './not-allowed.tsx';
import { OrganisationSwitch } from './organisation-switch.tsx';
import { UserMenu } from './user-menu.tsx';

const HEADER_HEIGHT = 48;

/** The frame of everything in an organisation: navigation at the left, behind a button where the window is narrow. */
export function Shell() {
  const { t } = useTranslation();
  const [isOpen, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  const { width, isNarrow, toggle: toggleWidth } = useNavigationWidth();
  useEffect(close, [pathname]);
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
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <AppShell.Section>
          <OrganisationSwitch isNarrow={isNarrow} />
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea} type="auto" mt="xs">
          <Navigation isNarrow={isNarrow} />
        </AppShell.Section>
        <AppShell.Section>
          <WidthButton isNarrow={isNarrow} onToggle={toggleWidth} />
          <UserMenu isNarrow={isNarrow} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} style={{ outline: 'none' }}>
        <Content />
      </AppShell.Main>
    </AppShell>
  );
}

/** Whether one belongs to the organisation; who does not (any more) is led to where they do. */
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

/** The page, or a word about the role that it needs: the service would refuse all of it. */
function Content() {
  const org = useOrg();
  const place = navigationItemAt(useLocation().pathname);
  const role = useMe()?.organisations.find(({ id }) => id === org)?.role;
  // Whose organisation it is not, and where there is none, the service says.
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
