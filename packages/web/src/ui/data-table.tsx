import { Stack, Table, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type Key, type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';

/** One column of a table. */
export interface Column<Item> {
  readonly head: string;
  /** In pixels; what the others leave when it is not said. */
  readonly width?: number;
  readonly cell: (item: Item) => ReactNode;
}

interface DataTableProps<Item> {
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
  /** What can be done with an item: the last column, whose head is for screen readers only. */
  readonly actions: (item: Item) => ReactNode;
  /** Room for the actions in pixels; one icon when it is not said. */
  readonly actionsWidth?: number;
  /** The same item where the window has no room for columns. */
  readonly narrow: (item: Item) => ReactNode;
  /** Below this width of the window it is a list. */
  readonly narrowBelow?: '48em' | '62em';
  /** Cells of several lines begin at the same height. */
  readonly isTopAligned?: boolean;
}

const ONE_ICON = 52;

/** Items as a table; in a narrow window as a list. */
export function DataTable<Item extends { readonly id: Key }>({
  items,
  columns,
  actions,
  actionsWidth = ONE_ICON,
  narrow,
  narrowBelow = '48em',
  isTopAligned = false,
}: DataTableProps<Item>) {
  const { t } = useTranslation();
  const isNarrow = useMediaQuery(`(max-width: ${narrowBelow})`, false);
  const style = useMemo(() => (isTopAligned ? { verticalAlign: 'top' } : {}), [isTopAligned]);
  if (isNarrow) {
    return (
      <NarrowList>
        {items.map((item) => (
          <NarrowItem key={item.id}>{narrow(item)}</NarrowItem>
        ))}
      </NarrowList>
    );
  }
  return (
    <Table highlightOnHover verticalSpacing={6} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ head, width }) => (
            <Table.Th key={head} {...(width === undefined ? {} : { w: width })}>
              {head}
            </Table.Th>
          ))}
          <Table.Th w={actionsWidth}>
            <VisuallyHidden>{t('common.actions')}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={item.id} style={style}>
            {columns.map(({ head, cell }) => (
              <Table.Td key={head}>{cell(item)}</Table.Td>
            ))}
            <Table.Td>{actions(item)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Rows of what is a table in a wide window. */
export function NarrowList({ children }: { readonly children: ReactNode }) {
  return (
    <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
      {children}
    </Stack>
  );
}

/** One row of a NarrowList. */
export function NarrowItem({ children }: { readonly children: ReactNode }) {
  return (
    <Stack
      component="li"
      gap={6}
      py="sm"
      style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      {children}
    </Stack>
  );
}
