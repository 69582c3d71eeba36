import { useRole } from '@millrace/ui/api/me.ts';
import { ConfirmDialog } from '@millrace/ui/components/form-dialog.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';

type ChangeOptions<Answer> = NonNullable<Parameters<typeof useChange<Answer>>[1]>;

/** Deletes something after a question; nothing for those who may not. */
export function DeleteButton<Answer>({
  label,
  onDelete,
  done,
  refreshes,
  children,
  ...dialog
}: {
  label: string;
  action: string;
  /** What has to be typed first. */
  typed?: string;
  onDelete: () => Promise<Answer>;
  children: ReactNode;
} & Required<Pick<ChangeOptions<Answer>, 'done' | 'refreshes'>>) {
  const { can } = useRole();
  const [isAsking, setIsAsking] = useState(false);
  const close = () => setIsAsking(false);
  const remove = useChange(onDelete, { done, refreshes, onSuccess: close });
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
      <ConfirmDialog
        {...dialog}
        isOpen={isAsking}
        title={label}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
        onClose={close}
      >
        {children}
      </ConfirmDialog>
    </>
  );
}
