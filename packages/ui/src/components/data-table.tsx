import { Stack, Table, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type Key, memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** One column of a table. */
export interface Column<Item> {
  readonly head: string;
  /** In pixels; what the others leave when it is not said. */
  readonly width?: number;
  /** Numbers stand at the right, below each other. */
  readonly isNumber?: boolean;
  readonly cell: (item: Item) => ReactNode;
}

interface DataTableProps<Item> {
  items: readonly Item[];
  /** Where columns, actions and the narrow form stay the same, only rows whose item has changed are drawn again. */
  columns: readonly Column<Item>[];
  /** What can be done with an item: the last column, whose head is for screen readers only. */
  actions?: (item: Item) => ReactNode;
  /** Room for the actions in pixels; one icon when it is not said. */
  actionsWidth?: number;
  /** The same item where the window has no room for columns. */
  narrow: (item: Item) => ReactNode;
  /** Below this width of the window it is a list. */
  narrowBelow?: '48em' | '62em';
  /** Cells of several lines begin at the same height. */
  isTopAligned?: boolean;
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
  if (isNarrow) {
    return (
      <NarrowList>
        {items.map((item) => (
          <NarrowRow key={item.id} item={item} narrow={narrow} />
        ))}
      </NarrowList>
    );
  }
  return (
    <Table highlightOnHover verticalSpacing={6} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ head, width, isNumber }) => (
            <Table.Th key={head} {...(width === undefined ? {} : { w: width })} {...alignment(isNumber)}>
              {head}
            </Table.Th>
          ))}
          {actions !== undefined && (
            <Table.Th w={actionsWidth}>
              <VisuallyHidden>{t('common.actions')}</VisuallyHidden>
            </Table.Th>
          )}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <Row key={item.id} item={item} columns={columns} actions={actions} isTopAligned={isTopAligned} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

type RowProps<Item> = Pick<DataTableProps<Item>, 'columns'> & {
  actions: DataTableProps<Item>['actions'] | undefined;
  isTopAligned: boolean;
  item: Item;
};

const TOP_ALIGNED = { verticalAlign: 'top' };
const ALIGNED = {};

function WideRow<Item>({ item, columns, actions, isTopAligned }: RowProps<Item>) {
  return (
    <Table.Tr style={isTopAligned ? TOP_ALIGNED : ALIGNED}>
      {columns.map(({ head, isNumber, cell }) => (
        <Table.Td key={head} {...alignment(isNumber)}>
          {cell(item)}
        </Table.Td>
      ))}
      {actions !== undefined && <Table.Td>{actions(item)}</Table.Td>}
    </Table.Tr>
  );
}
const alignment = (isNumber = false) =>
  isNumber ? ({ ta: 'right', style: { fontVariantNumeric: 'tabular-nums' } } as const) : {};
const Row = memo(WideRow) as typeof WideRow;

function ListItem<Item>({ item, narrow }: { item: Item } & Pick<DataTableProps<Item>, 'narrow'>) {
  return <NarrowItem>{narrow(item)}</NarrowItem>;
}
const NarrowRow = memo(ListItem) as typeof ListItem;

/** Rows of what is a table in a wide window. */
export function NarrowList({ children }: { children: ReactNode }) {
  return (
    <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
      {children}
    </Stack>
  );
}

/** One row of a NarrowList. */
export function NarrowItem({ children }: { children: ReactNode }) {
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
