import { Group, Menu, ScrollArea, Text, ThemeIcon, UnstyledButton } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Building2, Check, ChevronsUpDown } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useMe, useOrg } from '../api/me.ts';

/** The organisation one is in, and the others. */
export function OrganisationSwitch({ isNarrow }: { readonly isNarrow: boolean }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const org = useOrg();
  const organisations = useMe()?.organisations ?? [];
  const name = organisations.find(({ id }) => id === org)?.name ?? '';
  return (
    <Menu width={196} position="bottom-start" disabled={organisations.length < 2}>
      <Menu.Target>
        <UnstyledButton
          w="100%"
          p={4}
          aria-label={organisations.length < 2 ? name : t('shell.switchOrganisation', { name })}
          disabled={organisations.length < 2}
          title={isNarrow ? name : undefined}
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
            {organisations.length > 1 && !isNarrow && <ChevronsUpDown size={14} aria-hidden />}
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <ScrollArea.Autosize mah={320}>
          {organisations.map((each) => (
            <Menu.Item
              key={each.id}
              rightSection={each.id === org ? <Check size={14} /> : null}
              onClick={() => navigate({ to: '/o/$org', params: { org: String(each.id) } })}
            >
              {each.name}
            </Menu.Item>
          ))}
        </ScrollArea.Autosize>
      </Menu.Dropdown>
    </Menu>
  );
}
