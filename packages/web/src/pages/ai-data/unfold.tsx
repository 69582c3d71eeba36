import { ActionIcon } from '@mantine/core';
import type { RowState } from '@millrace/ui/components/data-table.tsx';
import { ChevronRight } from 'lucide-react';

/** Shows what is in a row. */
export function Unfold({ label, isOpen, toggle }: { label: string } & RowState) {
  return (
    <ActionIcon size="sm" onClick={toggle} aria-expanded={isOpen} aria-label={label}>
      <ChevronRight size={14} style={{ rotate: isOpen ? '90deg' : '0deg' }} />
    </ActionIcon>
  );
}
