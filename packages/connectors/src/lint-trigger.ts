import type { JsonValue } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import type { Connector, ConnectorTrigger } from './format.ts';
import { lintAddresses, lintOwnAddress } from './lint-addresses.ts';
import {
  type ConnectorFault,
  lintConfig,
  lintPagination,
  lintRequest,
  lintSettings,
  lintTemplates,
  lintUnused,
} from './lint-parts.ts';
import { TRIGGER_SETTINGS, TRIGGER_VALUES } from './trigger-type.ts';

export function lintTrigger(connector: Connector, trigger: ConnectorTrigger, at: string): ConnectorFault[] {
  const { settings, request, items, pagination, cursor, detail, errors = [] } = trigger;
  const names = Object.keys(settings);
  const faults: ConnectorFault[] = [];
  const add = (member: string, said: Message): void =>
    void faults.push({ pointer: `${at}/${member}`, message: said });

  faults.push(...lintSettings(trigger, at, [...TRIGGER_SETTINGS, ...TRIGGER_VALUES]));
  for (const [member, { method }] of [
    ['request', request] as const,
    ['detail/request', detail?.request] as const,
  ].flatMap(([name, each]) => (each === undefined ? [] : [[name, each] as const]))) {
    if (!['GET', 'POST'].includes(method)) add(member, message('connectors.poll_only_reads', { method }));
  }
  if ((items === undefined) === (pagination === undefined)) {
    add('items', message('connectors.items_or_pages'));
  }
  faults.push(...lintPagination(pagination, at));
  faults.push(...lintCursor(trigger, at));
  const begin = [
    'now',
    ...(cursor === undefined ? [] : cursor.type === 'time' ? ['since', 'since_s'] : ['cursor']),
  ];
  const used = new Set<string>();
  faults.push(...lintRequest(request, `${at}/request`, { names, known: [...names, ...begin], used }));
  faults.push(...lintOwnAddress(connector, request, trigger, `${at}/request`));
  faults.push(...lintAddresses(connector, names, used));
  const read = (member: string, value: unknown, more: readonly string[]): void =>
    void faults.push(
      ...lintTemplates((value ?? null) as JsonValue, `${at}/${member}`, [...names, ...begin, ...more], used),
    );
  read(
    'items',
    [
      items ?? '',
      trigger.more ?? '',
      pagination?.items ?? '',
      pagination?.next ?? '',
      trigger.table?.header ?? '',
    ],
    ['response'],
  );
  read('errors', errors, ['response']);
  read('cursor/next', cursor?.next, ['items', 'response']);
  for (const [member, value] of [
    ['cursor/item_time', cursor?.item_time],
    ['when', trigger.when],
    ['id_of', trigger.id_of],
    ['data', trigger.data],
  ] as const)
    read(member, value, ['item']);
  if (detail !== undefined) {
    const known = [...names, ...begin, 'item'];
    faults.push(...lintRequest(detail.request, `${at}/detail/request`, { names, known, used }));
    faults.push(...lintOwnAddress(connector, detail.request, {}, `${at}/detail/request`));
    read('detail/output', detail.output, ['item', 'response']);
  }
  if (
    cursor !== undefined &&
    cursor.item_time === undefined &&
    !begin.slice(1).some((name) => used.has(name))
  ) {
    add(
      'cursor',
      message('connectors.cursor_never_read', { name: cursor.type === 'time' ? 'since' : 'cursor' }),
    );
  }
  faults.push(...lintUnused(names, used, at));
  faults.push(...lintExchanges(connector, trigger, at));
  return faults;
}

/** Faults of the cursor, and of how it goes with the order and the pages of the list. */
function lintCursor({ cursor, pagination, more, order }: ConnectorTrigger, at: string): ConnectorFault[] {
  const faults: ConnectorFault[] = [];
  const add = (member: string, said: Message): void =>
    void faults.push({ pointer: `${at}/${member}`, message: said });
  if (
    cursor?.type === 'value' &&
    (cursor.next === undefined || cursor.item_time !== undefined || cursor.overlap_s !== undefined)
  ) {
    add('cursor', message('connectors.cursor_value'));
  }
  if (cursor?.type === 'time' && cursor.next !== undefined)
    add('cursor/next', message('connectors.cursor_next'));
  if (
    cursor?.type === 'time' &&
    (pagination ?? more) !== undefined &&
    order === 'oldest_first' &&
    cursor.item_time === undefined
  ) {
    add('cursor/item_time', message('connectors.item_time_missing'));
  }
  if (cursor === undefined && order === 'oldest_first' && pagination !== undefined) {
    add('cursor', message('connectors.cursor_missing'));
  }
  if (pagination !== undefined && more !== undefined) add('more', message('connectors.more_without_pages'));
  return faults;
}

/** Settings of every trigger that an exchange may set besides the file's own. */
const SET_IN_EXCHANGES = ['existing', 'interval_s'];

function lintExchanges(connector: Connector, trigger: ConnectorTrigger, at: string): ConnectorFault[] {
  const faults: ConnectorFault[] = [];
  const add = (member: string, said: Message): void =>
    void faults.push({ pointer: `${at}/${member}`, message: said });
  for (const [index, exchange] of trigger.exchanges.entries()) {
    const pointer = `exchanges/${index}`;
    if ((exchange.items === undefined) === (exchange.failure === undefined)) {
      add(pointer, message('connectors.items_or_failure'));
    }
    if (Number.isNaN(Date.parse(exchange.now))) add(`${pointer}/now`, message('connectors.now_not_time'));
    faults.push(
      ...lintConfig(
        exchange.config,
        [...Object.keys(trigger.settings), ...SET_IN_EXCHANGES],
        `${at}/${pointer}`,
      ),
    );
  }
  const mayHaveNone = connector.own === true && trigger.exchanges.length === 0;
  if (!mayHaveNone && trigger.exchanges.every((exchange) => (exchange.items ?? []).length === 0)) {
    add('exchanges', message('connectors.no_item'));
  }
  return faults;
}
