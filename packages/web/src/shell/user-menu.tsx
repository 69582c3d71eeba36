import { Group, Menu, Text, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { useMe } from '@millrace/ui/api/me.ts';
import { LANGUAGES, type Language } from '@millrace/ui/i18n/index.ts';
import { Link } from '@tanstack/react-router';
import { Check, ChevronUp, CircleUser, Languages, LogOut, SunMoon } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useChooseLanguage } from './account-language.ts';
import { useSignOut } from './sign-out.ts';

const SCHEMES = ['light', 'dark', 'auto'] as const;

/** Account, language, appearance, and sign-out. */
export function UserMenu({ isNarrow }: { isNarrow: boolean }) {
  const { t, i18n } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const chooseLanguage = useChooseLanguage();
  const name = useMe()?.user.name ?? '';
  const signOut = useSignOut();
  return (
    <Menu width={216} position="top-start">
      <Menu.Target>
        <UnstyledButton w="100%" p={4} aria-label={t('shell.userMenu', { name })}>
          <Group gap="xs" wrap="nowrap" justify={isNarrow ? 'center' : undefined} mih={28}>
            <CircleUser size={18} aria-hidden />
            {!isNarrow && (
              <>
                <Text size="sm" truncate flex={1}>
                  {name}
                </Text>
                <ChevronUp size={14} aria-hidden />
              </>
            )}
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/account" leftSection={<CircleUser size={14} />}>
          {t('shell.account')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>
          <Group gap={6}>
            <Languages size={14} aria-hidden />
            {t('shell.language')}
          </Group>
        </Menu.Label>
        {Object.entries(LANGUAGES).map(([id, label]) => (
          <Menu.Item
            key={id}
            lang={id}
            closeMenuOnClick={false}
            rightSection={i18n.language === id ? <Check size={14} /> : null}
            onClick={() => chooseLanguage(id as Language)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>
          <Group gap={6}>
            <SunMoon size={14} aria-hidden />
            {t('shell.theme')}
          </Group>
        </Menu.Label>
        {SCHEMES.map((scheme) => (
          <Menu.Item
            key={scheme}
            closeMenuOnClick={false}
            rightSection={colorScheme === scheme ? <Check size={14} /> : null}
            onClick={() => setColorScheme(scheme)}
          >
            {t(`shell.scheme.${scheme}`)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={14} />} onClick={() => signOut.mutate()}>
          {t('shell.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
