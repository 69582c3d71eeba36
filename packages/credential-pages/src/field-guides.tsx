import { Anchor, Paper, Stack, Text } from '@mantine/core';
import type { CredentialGuide } from '@millrace/admin-api';
import { useGuideText } from '@millrace/ui/i18n/service/credential-guides.ts';
import { ExternalLink } from 'lucide-react';
import { useTranslation } from 'react-i18next';

const GENERAL_PAGE = '/docs/guides/credentials#types';

/** Where the values of fields are found, with the page of the service. */
export function FieldGuides({
  guides,
}: {
  /** With the titles of the fields they are about. */
  guides: readonly { readonly titles: readonly string[]; readonly guide: CredentialGuide }[];
}) {
  const { t } = useTranslation();
  const translate = useGuideText();
  if (guides.length === 0 || translate === null) return null;
  return (
    <Paper withBorder px="sm" py="xs" bg="var(--mantine-color-default-hover)">
      <Stack gap={6}>
        {guides.map(({ titles, guide: { service, page, text } }, index) => (
          <Text key={text} size="xs">
            {guides[index - 1]?.titles.join() !== titles.join() && (
              <Text span inherit fw={600}>
                {t('credentials.guide.about', { field: titles.join(t('common.listSeparator')) })}{' '}
              </Text>
            )}
            {translate(text)}{' '}
            <Anchor
              href={page ?? GENERAL_PAGE}
              target="_blank"
              rel="noopener noreferrer"
              underline="always"
              inherit
            >
              {service === null ? t('credentials.guide.general') : t('credentials.guide.open', { service })}
              <ExternalLink size={11} aria-hidden style={{ marginInlineStart: 3, verticalAlign: -1 }} />
            </Anchor>
          </Text>
        ))}
      </Stack>
    </Paper>
  );
}
