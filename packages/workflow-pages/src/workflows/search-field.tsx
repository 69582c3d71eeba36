import { FilterInput } from '@millrace/ui/components/filter-input.tsx';
import { Search } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** The field above a list that searches its texts. */
export function SearchField({
  label,
  hint,
  value,
  onApply,
}: {
  label: string;
  /** What can be searched for. */
  hint: string;
  value: string | undefined;
  onApply: (search: string) => void;
}) {
  const { t } = useTranslation();
  return (
    <FilterInput
      flex={1}
      miw={180}
      maw={360}
      aria-label={label}
      placeholder={hint}
      leftSection={<Search size={14} aria-hidden />}
      clearLabel={t('workflows.clearSearch')}
      value={value}
      onApply={onApply}
    />
  );
}
