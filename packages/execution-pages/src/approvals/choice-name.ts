import type { Approval } from '@millrace/admin-api';
import { useTranslation } from 'react-i18next';

type Choice = Approval['choices'][number];

/** Choices in the reader's language: the default choices carry the service's English labels. */
export function useChoiceNames(): (choices: readonly Choice[]) => readonly Choice[] {
  const { t } = useTranslation();
  const named = ({ id, label }: Choice): Choice => {
    if (id === 'approve' && label === 'Approve') return { id, label: t('executions.approvals.approve') };
    if (id === 'reject' && label === 'Reject') return { id, label: t('executions.approvals.reject') };
    return { id, label };
  };
  return (choices) => choices.map(named);
}
