import { cronText } from '@millrace/ui/components/cron-text.ts';
import { useTranslation } from 'react-i18next';

/** A cron expression in words, or `unreadable` if it is invalid. */
export default function CronWords({ cron, unreadable = null }: { cron: string; unreadable?: string | null }) {
  const { i18n } = useTranslation();
  return cronText(cron, i18n.language) ?? unreadable;
}
