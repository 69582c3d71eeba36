import { Hint } from '@millrace/ui/components/text.tsx';
import { useTranslation } from 'react-i18next';
import { CopyableText } from './webhook-panel.tsx';

/** What other websites include to show a hosted page, and which of them may. @param none said if there are none */
export function ForWebsites({
  page: { snippet, origins },
  none,
}: {
  page: { readonly snippet: string; readonly origins: readonly string[] };
  none: string;
}) {
  const { t } = useTranslation();
  return (
    <div>
      <CopyableText label={t('conversations.websites.snippet')} text={snippet} />
      <Hint mt={4}>
        {origins.length === 0
          ? none
          : t('conversations.websites.list', { websites: origins.join(t('common.listSeparator')) })}
      </Hint>
    </div>
  );
}
