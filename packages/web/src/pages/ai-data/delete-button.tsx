import { useRole } from '@millrace/ui/api/me.ts';
import { ConfirmChange, type ConfirmChangeProps } from '@millrace/ui/components/form-dialog.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';

/** Deletes something after a question; nothing for those who may not. */
export function DeleteButton<Answer>({
  label,
  ...dialog
}: { label: string } & Omit<ConfirmChangeProps<Answer>, 'isOpen' | 'title' | 'onClose'>) {
  const { can } = useRole();
  const [isAsking, setIsAsking] = useState(false);
  if (!can('editor')) return null;
  return (
    <>
      <IconButton
        icon={Trash2}
        size="sm"
        variant="subtle"
        color="gray"
        label={label}
        onClick={() => setIsAsking(true)}
      />
      <ConfirmChange {...dialog} isOpen={isAsking} title={label} onClose={() => setIsAsking(false)} />
    </>
  );
}
