import { Stack, Table, VisuallyHidden } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { type Key, memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** Whether a row is expanded, and how to toggle it. */
export interface RowState {
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

type Draw<Item> = (item: Item, row: RowState) => ReactNode;

export interface Column<Item> {
  /** `hidden`: for screen readers only. */
  readonly head: string | { readonly hidden: string };
  /** Pixels; by default the remaining width. */
  readonly width?: number;
  /** Right-aligned, so that digits line up. */
  readonly isNumber?: boolean;
  readonly cell: Draw<Item>;
}

interface DataTableProps<Item> {
  items: readonly Item[];
  /** With stable columns and callbacks, only rows whose item has changed re-render. */
  columns: readonly Column<Item>[];
  /** The actions for an item, shown in the last column. */
  actions?: (item: Item) => ReactNode;
  /** Width of the actions in pixels; defaults to one icon. */
  actionsWidth?: number;
  /** Shown below an expanded row. */
  details?: (item: Item) => ReactNode;
  /** The same item in a narrow window. */
  narrow: Draw<Item>;
  /** Below this window width the table becomes a list. */
  narrowBelow?: '48em' | '62em' | '75em';
  /** Top-aligns cells of several lines. */
  isTopAligned?: boolean;
  /** Pixels; narrower containers scroll sideways. */
  minWidth?: number;
  'aria-label'?: string;
}

const ONE_ICON = 52;

/** Items as a table, or as a list in a narrow window. */
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

/** The narrow-window counterpart of a table's rows. */
export function NarrowList({ children }: { children: ReactNode }) {
  return (
    <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
      {children}
    </Stack>
  );
}

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
