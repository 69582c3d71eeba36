import { Divider, NavLink, Stack, Tooltip } from '@mantine/core';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Link, useLocation } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ADMINISTRATION_ITEMS, type NavigationItem, WORK_ITEMS } from './navigation-items.ts';

/** Where one can go; what the role does not allow is not there. */
export function Navigation({ isNarrow }: { isNarrow: boolean }) {
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
