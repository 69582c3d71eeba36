import { ActionIcon, Menu } from '@mantine/core';
import { EllipsisVertical } from 'lucide-react';
import type { ReactNode } from 'react';

/** The menu of actions at the end of a row. */
export function RowMenu({
  label,
  width = 180,
  children,
}: {
  label: string;
  width?: number;
  children: ReactNode;
}) {
  return (
    <Menu position="bottom-end" width={width}>
      <Menu.Target>
        <ActionIcon aria-label={label}>
          <EllipsisVertical size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
