import type { JsonSchema, JsonValue } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import type { Connector, ConnectorList, ListSource } from './format.ts';
import { type ConnectorFault, lintTemplates } from './lint-parts.ts';
import { newestOperation, settingsAmong, settingsReadBy } from './list-choices.ts';

/** Faults of the lists that settings take their values from, and of the settings that name one. */
export function lintLists(connector: Connector): ConnectorFault[] {
  const { lists = [], operations, triggers = [], authentication } = connector;
  const faults: ConnectorFault[] = [];
  if (lists.length > 0 && (authentication.types.length === 0 || authentication.chat !== undefined)) {
    faults.push({ pointer: '/lists', message: message('connectors.list_needs_credential') });
  }
  for (const [index, list] of lists.entries()) faults.push(...lintList(connector, list, `/lists/${index}`));
  const twice = lists.findIndex(({ id }, index) => lists.slice(0, index).some((each) => each.id === id));
  if (twice > 0) {
    const { id = '' } = lists[twice] ?? {};
    faults.push({ pointer: `/lists/${twice}/id`, message: message('connectors.twice', { id }) });
  }
  for (const [member, each] of [['operations', operations] as const, ['triggers', triggers] as const]) {
    for (const [index, { id, settings }] of each.entries()) {
      faults.push(...lintListed(lists, id, settings, `/${member}/${index}/settings`));
    }
  }
  return faults;
}

function lintList(connector: Connector, list: ConnectorList, at: string): ConnectorFault[] {
  const names = [...connector.operations, ...(connector.triggers ?? [])].flatMap(({ settings }) =>
    Object.keys(settings),
  );
  const known = settingsAmong(names);
  const { groups, fallback = {}, settings = {}, value, label, when = '', items = '' } = list;
  const faults = [...lintSource(connector, list, at)];
  const read = (member: string, templates: JsonValue, more: readonly string[]): void =>
    void faults.push(...lintTemplates(templates, `${at}/${member}`, [...known, ...more], null));
  read('settings', [settings, fallback], groups === undefined ? [] : ['group']);
  read('items', items, ['output']);
  read('value', [value, label, when], groups === undefined ? ['item'] : ['item', 'group']);
  if (groups === undefined) return faults;
  faults.push(...lintSource(connector, groups, `${at}/groups`));
  read('groups/settings', groups.settings ?? {}, []);
  read('groups/items', groups.items ?? '', ['output']);
  read('groups/label', groups.label, ['item']);
  return faults;
}

function lintSource(
  connector: Connector,
  { operation: name, settings = {}, items }: ListSource,
  at: string,
): ConnectorFault[] {
  const found = newestOperation(connector, name);
  const { request: { body_type: bodyType = 'json' } = {} } = found ?? {};
  if (
    found === undefined ||
    found.effect ||
    (found.response ?? 'json') !== 'json' ||
    [found.lookup, found.files, found.stores].some((each) => each !== undefined) ||
    ['file', 'multipart', 'related'].includes(bodyType) ||
    // What has pages says itself where the list is.
    (found.pagination !== undefined && items !== undefined)
  ) {
    return [{ pointer: `${at}/operation`, message: message('connectors.list_operation', { name }) }];
  }
  const fault = (said: Message) => ({ pointer: `${at}/settings`, message: said });
  const unknown = Object.keys(settings).filter((each) => found.settings[each] === undefined);
  const missing = found.required.filter((each) => settings[each] === undefined);
  return [
    ...unknown.map((each) => fault(message('connectors.names_no_setting', { name: each }))),
    ...missing.map((each) => fault(message('connectors.list_setting_missing', { name: each }))),
  ];
}

function lintListed(
  lists: readonly ConnectorList[],
  operation: string,
  settings: { readonly [name: string]: JsonSchema },
  at: string,
): ConnectorFault[] {
  return Object.entries(settings).flatMap(([name, { type, 'x-list': id }]) => {
    if (id === undefined) return [];
    const pointer = `${at}/${name}/x-list`;
    const list = lists.find((each) => each.id === id);
    if (list === undefined) {
      return [
        { pointer, message: message('connectors.no_such_list', { name: typeof id === 'string' ? id : '' }) },
      ];
    }
    if (type !== 'string') return [{ pointer, message: message('connectors.list_text_only') }];
    return settingsReadBy(list)
      .filter((each) => settings[each] === undefined)
      .map((each) => ({
        pointer,
        message: message('connectors.list_reads_missing', { name: each, operation }),
      }));
  });
}
