import { ActionIcon, Button } from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../form/form-context.tsx';

/** Below what consists of several: one more of them. Nothing where nothing may be changed. */
export function AddButton({
  to,
  onClick,
  children,
}: {
  /** What it is added to. */
  to: string;
  onClick: () => void;
  children: string;
}) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  if (isReadOnly) return null;
  return (
    <Button
      variant="default"
      w="fit-content"
      leftSection={<Plus size={14} />}
      aria-label={t('forms.addTo', { label: to })}
      onClick={onClick}
    >
      {children}
    </Button>
  );
}

/** Beside the name of a member: takes it away. Nothing where nothing may be changed. */
export function RemoveMemberButton({ name, onClick }: { name: string; onClick: () => void }) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  if (isReadOnly) return null;
  return (
    <ActionIcon size="sm" mt={4} color="red" onClick={onClick} aria-label={t('forms.removeMember', { name })}>
      <Trash2 size={14} />
    </ActionIcon>
  );
}

/** A name that no member has yet. */
export function freeName(taken: readonly string[]): string {
  for (let number = taken.length + 1; ; number += 1) {
    if (!taken.includes(`field_${number}`)) return `field_${number}`;
  }
}
