import type { ComponentProps } from 'react';
import { ConfirmDialog } from './form-dialog.tsx';
import { type ChangeOptions, useChange } from './use-change.ts';

export type ConfirmChangeProps<Answer> = Omit<ComponentProps<typeof ConfirmDialog>, 'isBusy' | 'onConfirm'> &
  Omit<ChangeOptions<Answer, void>, 'onSettled'> & { change: () => Promise<Answer> };

/** Asks before a change, and closes once it is made. */
export function ConfirmChange<Answer>({
  change,
  done,
  refreshes,
  onSuccess,
  onError,
  ...dialog
}: ConfirmChangeProps<Answer>) {
  const { isPending, mutate } = useChange(change, {
    ...{ done, refreshes, onError },
    onSuccess: (answer) => {
      dialog.onClose();
      return onSuccess?.(answer);
    },
  });
  return <ConfirmDialog {...dialog} isBusy={isPending} onConfirm={() => mutate()} />;
}
