import '@millrace/ui/i18n/parts/workflow.ts';
import type { WorkflowStatus } from '@millrace/admin-api';
import { IconBadge } from '@millrace/ui/components/icon-badge.tsx';
import { Archive, CircleDashed, CirclePause, CirclePlay, type LucideIcon } from 'lucide-react';
import { useTranslation } from 'react-i18next';

const STATUS_STYLES: {
  readonly [status in WorkflowStatus]: { readonly icon: LucideIcon; readonly color: string };
} = {
  draft: { icon: CircleDashed, color: 'gray' },
  active: { icon: CirclePlay, color: 'green' },
  inactive: { icon: CirclePause, color: 'yellow' },
  archived: { icon: Archive, color: 'gray' },
};

/** A workflow's status: colour, icon and label. */
export function StatusBadge({ status }: { status: WorkflowStatus }) {
  const { t } = useTranslation();
  return <IconBadge {...STATUS_STYLES[status]}>{t(`workflow.status.${status}`)}</IconBadge>;
}
