import { Text } from '@mantine/core';
import cronstrue from 'cronstrue/i18n';
import { useTranslation } from 'react-i18next';

/** A cron expression in words; nothing while it is none. */
export default function CronWords({ cron }: { readonly cron: string }) {
  const { i18n } = useTranslation();
  try {
    const words = cronstrue.toString(cron, { locale: i18n.language, use24HourTimeFormat: true });
    return (
      <Text size="sm" fw={500}>
        {words}
      </Text>
    );
  } catch {
    return null;
  }
}
