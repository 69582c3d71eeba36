import { Anchor, Stack } from '@mantine/core';
import type { CredentialGuide } from '@millrace/admin-api';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useGuideText } from '@millrace/ui/i18n/service/credential-guides.ts';
import { ExternalLink } from 'lucide-react';
import { useTranslation } from 'react-i18next';

const GENERAL_PAGE = '/docs/guides/credentials#types';

/** Where a field's value is found, with the page of the service. */
export function FieldGuides({ guides }: { guides: readonly CredentialGuide[] }) {
  const { t } = useTranslation();
  const translate = useGuideText();
  if (guides.length === 0) return null;
  return (
    <Stack gap={4} mt={4}>
      {guides.map(({ service, page, text }) => (
        <Hint key={text}>
          {translate(text)}{' '}
          <Anchor href={page ?? GENERAL_PAGE} target="_blank" rel="noopener noreferrer" inherit>
            {service === null ? t('credentials.guide.general') : t('credentials.guide.open', { service })}
            <ExternalLink size={11} aria-hidden style={{ marginInlineStart: 3, verticalAlign: -1 }} />
          </Anchor>
        </Hint>
      ))}
    </Stack>
  );
}
