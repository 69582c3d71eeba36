import { Text } from '@mantine/core';
import { cronText } from '@millrace/ui/components/cron-text.ts';
import { useTranslation } from 'react-i18next';

/** A cron expression in words; nothing while it is none. */
export default function CronWords({ cron }: { cron: string }) {
  const { i18n } = useTranslation();
  const words = cronText(cron, i18n.language);
  return words === null ? null : (
    <Text size="sm" fw={500}>
      {words}
    </Text>
  );
}
