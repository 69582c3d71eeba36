import { Stack, Table, VisuallyHidden } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { type Key, memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** Whether the details of a row are shown, and what changes that. */
export interface RowState {
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

type Draw<Item> = (item: Item, row: RowState) => ReactNode;

/** One column of a table. */
export interface Column<Item> {
  /** Hidden: it is for screen readers only. */
  readonly head: string | { readonly hidden: string };
  /** In pixels; what the others leave when it is not said. */
  readonly width?: number;
  /** Numbers stand at the right, below each other. */
  readonly isNumber?: boolean;
  readonly cell: Draw<Item>;
}

interface DataTableProps<Item> {
  items: readonly Item[];
  /** Where columns and the other functions stay the same, only rows whose item has changed are drawn again. */
  columns: readonly Column<Item>[];
  /** What can be done with an item: the last column. */
  actions?: (item: Item) => ReactNode;
  /** Room for the actions in pixels; one icon when it is not said. */
  actionsWidth?: number;
  /** Below a row that is open. */
  details?: (item: Item) => ReactNode;
  /** The same item where the window has no room for columns. */
  narrow: Draw<Item>;
  /** Below this width of the window it is a list. */
  narrowBelow?: '48em' | '62em';
  /** Cells of several lines begin at the same height. */
  isTopAligned?: boolean;
  /** In pixels; where there is less room it is scrolled sideways. */
  minWidth?: number;
  'aria-label'?: string;
}

const ONE_ICON = 52;

/** Items as a table; in a narrow window as a list. */
export function DataTable<Item extends { readonly id: Key }>(props: DataTableProps<Item>) {
  const { items, actions, actionsWidth = ONE_ICON, details, narrow, narrowBelow = '48em' } = props;
  const { t } = useTranslation();
  const isNarrow = useMediaQuery(`(max-width: ${narrowBelow})`, false);
  if (isNarrow) {
    return (
      <NarrowList>
        {items.map((item) => (
          <NarrowRow key={item.id} item={item} narrow={narrow} details={details} />
        ))}
      </NarrowList>
    );
  }
  const columns =
    actions === undefined
      ? props.columns
      : [...props.columns, { head: { hidden: t('common.actions') }, width: actionsWidth, cell: actions }];
  const table = (
    <Table highlightOnHover verticalSpacing={6} layout="fixed" aria-label={props['aria-label']}>
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ head, width, isNumber }) => (
            <Table.Th key={keyOf(head)} {...(width === undefined ? {} : { w: width })} {...styleOf(isNumber)}>
              {typeof head === 'string' ? head : <VisuallyHidden>{head.hidden}</VisuallyHidden>}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <Row
            key={item.id}
            item={item}
            columns={props.columns}
            actions={actions}
            details={details}
            isTopAligned={props.isTopAligned ?? false}
          />
        ))}
      </Table.Tbody>
    </Table>
  );
  if (props.minWidth === undefined) return table;
  return <Table.ScrollContainer minWidth={props.minWidth}>{table}</Table.ScrollContainer>;
}

const keyOf = (head: Column<never>['head']) => (typeof head === 'string' ? head : head.hidden);
const styleOf = (isNumber = false) =>
  isNumber ? ({ ta: 'right', style: { fontVariantNumeric: 'tabular-nums' } } as const) : {};
const TOP_ALIGNED = { verticalAlign: 'top' };
const ALIGNED = {};

type RowProps<Item> = Pick<DataTableProps<Item>, 'columns'> & {
  item: Item;
  actions: DataTableProps<Item>['actions'] | undefined;
  details: DataTableProps<Item>['details'] | undefined;
  isTopAligned: boolean;
};

function WideRow<Item>({ item, columns, actions, details, isTopAligned }: RowProps<Item>) {
  const [isOpen, { toggle }] = useDisclosure(false);
  return (
    <>
      <Table.Tr style={isTopAligned ? TOP_ALIGNED : ALIGNED}>
        {columns.map(({ head, isNumber, cell }) => (
          <Table.Td key={keyOf(head)} {...styleOf(isNumber)}>
            {cell(item, { isOpen, toggle })}
          </Table.Td>
        ))}
        {actions !== undefined && <Table.Td>{actions(item)}</Table.Td>}
      </Table.Tr>
      {isOpen && details !== undefined && (
        <Table.Tr>
          <Table.Td colSpan={columns.length + (actions === undefined ? 0 : 1)}>{details(item)}</Table.Td>
        </Table.Tr>
      )}
    </>
  );
}
const Row = memo(WideRow) as typeof WideRow;

function ListItem<Item>({
  item,
  narrow,
  details,
}: Pick<DataTableProps<Item>, 'narrow'> & Pick<RowProps<Item>, 'item' | 'details'>) {
  const [isOpen, { toggle }] = useDisclosure(false);
  return (
    <NarrowItem>
      {narrow(item, { isOpen, toggle })}
      {isOpen && details?.(item)}
    </NarrowItem>
  );
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
