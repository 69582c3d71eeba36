import { Anchor, Box, Center, Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { chooseLanguage, LANGUAGES, type Language } from '@millrace/ui/i18n/index.ts';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import icon from '../../icon.svg';

/** The layout of the sign-in and account creation pages. */
export function AuthLayout({ title, children }: { title: string; children: ReactNode }) {
  const { t } = useTranslation();
  useDocumentTitle(`${title} · ${t('shell.appName')}`);
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack gap="lg" w="100%" maw={380}>
        <Group gap="xs">
          <img src={icon} alt="" width={24} height={24} />
          <Text fw={600}>{t('shell.appName')}</Text>
        </Group>
        <Title order={1} style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        <Box>{children}</Box>
        <Languages />
      </Stack>
    </Center>
  );
}

function Languages() {
  const { t, i18n } = useTranslation();
  return (
    <Group gap="sm" component="nav" aria-label={t('shell.language')}>
      {Object.entries(LANGUAGES).map(([id, label]) => (
        <Anchor
          key={id}
          component="button"
          type="button"
          size="xs"
          lang={id}
          c={i18n.language === id ? 'var(--mantine-color-text)' : 'dimmed'}
          fw={i18n.language === id ? 600 : 400}
          aria-pressed={i18n.language === id}
          onClick={() => chooseLanguage(id as Language)}
        >
          {label}
        </Anchor>
      ))}
    </Group>
  );
}
