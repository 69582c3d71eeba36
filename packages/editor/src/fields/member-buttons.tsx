import { ActionIcon, Button } from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../form/form-context.tsx';

/** Adds an item or member; hidden in read-only forms. */
export function AddButton({
  to,
  onClick,
  children,
}: {
  /** The name of the list or object. */
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

/** Removes a member; hidden in read-only forms. */
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

/** A member name that isn't in use. */
export function freeName(taken: readonly string[]): string {
  for (let number = taken.length + 1; ; number += 1) {
    if (!taken.includes(`field_${number}`)) return `field_${number}`;
  }
}
