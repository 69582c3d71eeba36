import { cronText } from '@millrace/ui/components/cron-text.ts';
import { useTranslation } from 'react-i18next';

/** What a schedule says, in words; as it is written while nobody can read it. */
export default function AboutCron({ cron }: { cron: string }) {
  const { i18n } = useTranslation();
  return cronText(cron, i18n.language) ?? cron;
}
