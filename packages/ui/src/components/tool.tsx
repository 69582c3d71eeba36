import { ActionIcon, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';

/** A small button with a picture; its name shows when it is pointed at. */
export function Tool({
  label,
  onClick,
  isOff = false,
  children,
}: {
  label: string;
  onClick: () => void;
  isOff?: boolean;
  children: ReactNode;
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon size="sm" aria-label={label} onClick={onClick} disabled={isOff}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
