import { Box, Group, NavLink, Popover, Text, TextInput, ThemeIcon, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Me } from '@millrace/admin-api';
import { useMe, useOrg } from '@millrace/ui/api/me.ts';
import { Form } from '@millrace/ui/components/form.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { Building2, Check, ChevronsUpDown, Search } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { sectionFor } from './navigation-items.ts';

/** Longer lists get a search field. */
const MAX_WITHOUT_SEARCH = 7;

/** The current organisation, and a menu to switch to others. */
export function OrganisationSwitch({ isNarrow }: { isNarrow: boolean }) {
  const { t } = useTranslation();
  const org = useOrg();
  const organisations = useMe()?.organisations ?? [];
  const [isOpen, { toggle, close }] = useDisclosure();
  const name = organisations.find(({ id }) => id === org)?.name ?? '';
  const isAlone = organisations.length < 2;
  return (
    <Popover
      opened={isOpen}
      onChange={toggle}
      width={300}
      position="bottom-start"
      shadow="md"
      disabled={isAlone}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <UnstyledButton
          w="100%"
          p={4}
          aria-label={isAlone ? name : t('shell.switchOrganisation', { name })}
          disabled={isAlone}
          title={isNarrow ? name : undefined}
          onClick={toggle}
        >
          <Group gap="xs" wrap="nowrap" justify={isNarrow ? 'center' : undefined}>
            <ThemeIcon variant="light" size="sm" aria-hidden>
              <Building2 size={14} />
            </ThemeIcon>
            {!isNarrow && (
              <Text fw={600} size="sm" truncate flex={1} title={name}>
                {name}
              </Text>
            )}
            {!isAlone && !isNarrow && <ChevronsUpDown size={14} aria-hidden />}
          </Group>
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown p={4}>
        <Choices organisations={organisations} onChosen={close} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Choices({ organisations, onChosen }: { organisations: Me['organisations']; onChosen: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const org = useOrg();
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = organisations
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map((each) => ({ ...each, to: `/o/${each.id}/${sectionFor(pathname, each.role)}` }));
  const enterFirst = () => {
    const [first] = found;
    if (first === undefined) return;
    onChosen();
    void navigate({ to: first.to });
  };
  return (
    <>
      {organisations.length > MAX_WITHOUT_SEARCH && (
        <Box component={Form} role="search" mb={4} onSubmit={enterFirst}>
          <TextInput
            data-autofocus
            aria-label={t('shell.searchOrganisations')}
            placeholder={t('shell.searchOrganisations')}
            leftSection={<Search size={14} aria-hidden />}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </Box>
      )}
      <Box mah={320} style={{ overflowY: 'auto' }}>
        {found.map(({ id, name, role, to }) => (
          <NavLink
            key={id}
            component={Link}
            to={to}
            py={4}
            label={name}
            description={t(`shell.role.${role}`)}
            title={name}
            noWrap
            rightSection={id === org ? <Check size={14} aria-hidden /> : null}
            aria-current={id === org ? 'true' : undefined}
            style={{ borderRadius: 'var(--mantine-radius-sm)' }}
            onClick={onChosen}
          />
        ))}
        {found.length === 0 && <Muted p="xs">{t('shell.noOrganisationFound')}</Muted>}
      </Box>
    </>
  );
}
