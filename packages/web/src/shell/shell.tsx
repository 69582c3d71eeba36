import { AppShell, Burger, Group, ScrollArea, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigation } from './navigation.tsx';
import { OrganisationSwitch } from './organisation-switch.tsx';
import { UserMenu } from './user-menu.tsx';

const NAVIGATION_WIDTH = 216;
const HEADER_HEIGHT = 48;

/** The frame of everything in an organisation: navigation at the left, behind a button where the window is narrow. */
export function Shell() {
  const { t } = useTranslation();
  const [isOpen, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  useEffect(close, [pathname]);
  return (
    <AppShell
      header={{ height: { base: HEADER_HEIGHT, sm: 0 } }}
      navbar={{ width: NAVIGATION_WIDTH, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
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
          <OrganisationSwitch />
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea} type="auto" mt="xs">
          <Navigation />
        </AppShell.Section>
        <AppShell.Section>
          <UserMenu />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} style={{ outline: 'none' }}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
