import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  joinPointer,
} from '@millrace/engine';
import { type Message, message, verbatim } from '@millrace/messages';
import { Compile } from 'typebox/compile';
import { type Connector, type ConnectorTrigger, connectorSchema, type Operation } from './format.ts';
import { lintLists } from './lint-lists.ts';
import {
  type ConnectorFault,
  lintConfig,
  lintPagination,
  lintRequest,
  lintSettings,
  lintTemplates,
  lintUnused,
} from './lint-parts.ts';
import { COMMON_SETTINGS } from './node-type.ts';
import { isHost } from './request.ts';
import { TRIGGER_SETTINGS, TRIGGER_VALUES } from './trigger-type.ts';

export type { ConnectorFault };

/** Faults of a connector's file; none if it can be used. */
export function lintConnector(file: JsonValue): readonly ConnectorFault[] {
  const validator = Compile(connectorSchema);
  if (!validator.Check(file)) {
    return [...validator.Errors(file)].map(({ instancePath, message: said, params }) => ({
      pointer: instancePath,
      message: verbatim(`${said}${describe(params)}. See packages/connectors/src/format.ts.`),
    }));
  }
  const connector = file as Connector;
  return [...lintContents(connector), ...lintJapanese(connector)];
}

/** Faults of what a file that matches its schema says. */
export function lintContents(connector: Connector): readonly ConnectorFault[] {
  const operations = connector.operations.flatMap((operation, index) =>
    lintOperation(connector, operation, `/operations/${index}`),
  );
  const triggers = (connector.triggers ?? []).flatMap((trigger, index) =>
    lintTrigger(connector, trigger, `/triggers/${index}`),
  );
  return [
    ...lintBase(connector),
    ...lintTemplates([connector.reason, connector.errors ?? []] as JsonValue, '', ['response'], null),
    ...lintLists(connector),
    ...lintVersions(connector.operations, '/operations'),
    ...lintVersions(connector.triggers ?? [], '/triggers'),
    ...operations,
    ...triggers,
  ];
}

function describe(params: object): string {
  const named = Object.values(params)
    .flat()
    .filter((each) => typeof each === 'string');
  return named.length === 0 ? '' : ` (${named.join(', ')})`;
}

function lintBase(connector: Connector): ConnectorFault[] {
  const { base_url: url, hosts, operations, triggers = [], authentication, own } = connector;
  const parts = url.split(/\{\{.*?\}\}/);
  if (parts.length > 2 || url.replace(/\{\{.*?\}\}/, '').includes('{{')) {
    return [{ pointer: '/base_url', message: message('connectors.several_templates') }];
  }
  const target = readAddress(parts.join('example'), own);
  if (!(target instanceof URL)) return [{ pointer: '/base_url', message: target }];
  const faults: ConnectorFault[] = [];
  const { types, chat, new_credential: newCredential = {} } = authentication;
  // One without any has no description either; only a file that has the member can have an empty list.
  if (types.length === 0 && (own !== true || authentication.description !== '')) {
    faults.push({ pointer: '/authentication/types', message: message('connectors.types_missing') });
  }
  for (const type of Object.keys(newCredential)) {
    if ((types as readonly string[]).includes(type)) continue;
    const pointer = `/authentication/new_credential/${type}`;
    faults.push({ pointer, message: message('connectors.not_its_type') });
  }
  if (types.includes('chat') !== (chat !== undefined) || (chat !== undefined && types.length > 1)) {
    faults.push({ pointer: '/authentication', message: message('connectors.chat_alone') });
  }
  if (chat !== undefined && parts.length > 1) {
    faults.push({
      pointer: '/base_url',
      message: message('connectors.template_before_token'),
    });
  }
  if (hosts.includes('*') && !/^https:\/\/\{\{[^{}]*\}\}(?:\/|$)/.test(url)) {
    faults.push({ pointer: '/hosts', message: message('connectors.any_host_only_whole') });
  }
  if (!hosts.some((host) => isHost(target.hostname, host))) {
    faults.push({
      pointer: '/hosts',
      message: message('connectors.host_not_listed', { host: target.hostname }),
    });
  }
  const paged = [...operations, ...triggers];
  if (parts.length > 1 && paged.some(isPagedByAddress)) {
    faults.push({
      pointer: '/base_url',
      message: message('connectors.template_and_links'),
    });
  }
  return [...faults, ...lintOtherAddress(connector)];
}

/** Faults of the address that a setting leads to. */
function lintOtherAddress({ other_address: other, hosts, authentication, own }: Connector): ConnectorFault[] {
  if (other === undefined) return [];
  const pointer = '/other_address/base_url';
  const target = readAddress(other.base_url.replace(/\{\{.*?\}\}/g, 'x'), own);
  if (!(target instanceof URL)) return [{ pointer, message: target }];
  const { hostname: host } = target;
  if (/^https?:\/\/[^/]*\{\{/.test(other.base_url) || authentication.chat !== undefined) {
    return [{ pointer, message: message('connectors.other_address_path') }];
  }
  if (!hosts.some((each) => isHost(host, each)))
    return [{ pointer, message: message('connectors.address_not_listed', { host }) }];
  return lintTemplates(other.base_url, pointer, [other.setting], null);
}

/** Faults of the addresses that an operation's settings lead to. */
function lintAddresses(connector: Connector, names: readonly string[], used: Set<string>): ConnectorFault[] {
  const setting = connector.other_address?.setting;
  if (setting !== undefined) used.add(setting);
  return lintTemplates(connector.base_url, '/base_url', names, used);
}

/** An address without templates, or why credentials can't be sent there. */
function readAddress(url: string, own: boolean | undefined): URL | Message {
  const target = URL.parse(url);
  if (target === null || target.search !== '' || target.username !== '')
    return message('connectors.no_plain_address');
  // Services within a house often have no certificate, as those that http.request calls.
  return target.protocol === 'https:' || own === true ? target : message('connectors.not_https');
}

/** Whether an answer says where the next page is. */
function isPagedByAddress({ pagination }: Pick<Operation, 'pagination'>): boolean {
  return /link|next_url/.test(pagination?.type ?? '');
}

/** Faults of the address that a request has instead of the connector's. */
function lintOwnAddress(
  { base_url: base, hosts, authentication, own }: Connector,
  { base_url: url }: Operation['request'],
  asked: Pick<Operation, 'pagination'>,
  at: string,
): ConnectorFault[] {
  if (url === undefined) return [];
  const pointer = `${at}/base_url`;
  const target = url.includes('{{') ? message('connectors.no_plain_address') : readAddress(url, own);
  if (!(target instanceof URL)) return [{ pointer, message: target }];
  const { hostname: host } = target;
  if (!hosts.some((each) => isHost(host, each)))
    return [{ pointer, message: message('connectors.address_not_listed', { host }) }];
  // A token goes before the path, wherever the credential says that the server is.
  const isElsewhere = authentication.chat !== undefined && !url.startsWith(`${base}/`);
  return isElsewhere || isPagedByAddress(asked)
    ? [{ pointer, message: message('connectors.own_address_alone') }]
    : [];
}

/** An operation or a trigger, of which there may be several versions. */
type Versioned = Pick<Operation, 'id' | 'version' | 'replaced'>;

function lintVersions(operations: readonly Versioned[], at: string): ConnectorFault[] {
  const newest = new Map<string, number>();
  for (const { id, version = 1 } of operations) newest.set(id, Math.max(newest.get(id) ?? 0, version));
  const seen = new Set<string>();
  return operations.flatMap(({ id, version = 1, replaced }, index) => {
    const name = `${id} ${version}`;
    const pointer = `${at}/${index}`;
    if (seen.has(name)) return [{ pointer, message: message('connectors.twice', { id }) }];
    seen.add(name);
    const isOld = version < (newest.get(id) ?? 1);
    if (isOld === (replaced === true)) return [];
    return [
      {
        pointer: `${pointer}/replaced`,
        message: message(isOld ? 'connectors.newer_version' : 'connectors.no_newer_version'),
      },
    ];
  });
}

function lintOperation(connector: Connector, operation: Operation, at: string): ConnectorFault[] {
  const { settings, request, output, pagination, errors = [], effect, repetition, key } = operation;
  const { lookup, files, stores } = operation;
  const names = Object.keys(settings);
  const faults: ConnectorFault[] = [];
  const add = (member: string, said: Message): void =>
    void faults.push({ pointer: `${at}/${member}`, message: said });

  faults.push(...lintSettings(operation, at, [...COMMON_SETTINGS, 'response', ...valuesOf(operation)]));
  if (effect !== (repetition !== undefined)) {
    add(
      'repetition',
      message(effect ? 'connectors.repetition_missing' : 'connectors.repetition_only_effects'),
    );
  }
  if ((repetition === 'keyed') !== (key !== undefined)) {
    add('key', message('connectors.key_and_keyed'));
  }
  if (effect && pagination !== undefined) add('pagination', message('connectors.pages_no_effect'));
  const requests = requestsOf(operation);
  for (const { method } of effect ? [] : requests.slice(0, 1)) {
    if (!READS.includes(method)) add('effect', message('connectors.effect_false', { method }));
  }
  if ((output === undefined) === (pagination === undefined)) {
    add('output', message('connectors.output_or_pages'));
  }
  faults.push(...lintPagination(pagination, at));
  const used = new Set<string>();
  faults.push(...lintLookup(connector, operation, at, used));
  const found = lookup === undefined ? [] : ['found'];
  const known = [...names, ...found];
  if (files !== undefined) {
    faults.push(...lintTemplates([files.of], `${at}/files`, known, used));
    faults.push(...lintTemplates(files.each, `${at}/files/each`, [...known, 'item'], used));
  }
  const sent = files === undefined ? known : [...known, 'files'];
  faults.push(...lintRequest(request, `${at}/request`, { names: known, known: sent, used }));
  faults.push(...lintOwnAddress(connector, request, operation, `${at}/request`));
  // One at an address of its own needs no settings for the connector's.
  if (request.base_url === undefined) faults.push(...lintAddresses(connector, names, used));
  const stored = stores === undefined ? [] : ['stored'];
  const read = [output ?? null, pagination?.items ?? '', pagination?.next ?? '', errors];
  faults.push(...lintTemplates(read, `${at}/output`, [...known, ...stored, 'response'], null));
  if (stores !== undefined) {
    faults.push(...lintTemplates([stores.base64, stores.name], `${at}/stores`, [...known, 'response'], used));
    if ((operation.response ?? 'json') !== 'json') add('stores', message('connectors.stores_json'));
  }
  faults.push(...lintUnused(names, used, at));
  const methods = requests.map(({ method }) => method);
  for (const [index, { config, steps, output: expected, failure }] of operation.exchanges.entries()) {
    const pointer = `exchanges/${index}`;
    if ((expected === undefined) === (failure === undefined))
      add(pointer, message('connectors.output_or_failure'));
    faults.push(...lintConfig(config, [...names, 'limit'], `${at}/${pointer}`));
    if (steps.some(({ request: { method } }) => !(methods as readonly string[]).includes(method))) {
      add(`${pointer}/steps`, message('connectors.other_method', { method: request.method }));
    }
  }
  return faults;
}

const READS: readonly string[] = ['GET', 'POST'];

/** Every request that an operation may send, its own first. */
function requestsOf({ request, lookup }: Operation): readonly Operation['request'][] {
  if (lookup === undefined) return [request];
  return [request, lookup.request, ...(lookup.instead === undefined ? [] : [lookup.instead.request])];
}

/** What its templates read besides settings and the response. */
function valuesOf({ lookup, files, stores }: Operation): readonly string[] {
  return [
    ...(lookup === undefined ? [] : ['found']),
    ...(files === undefined ? [] : ['files', 'item']),
    ...(stores === undefined ? [] : ['stored']),
  ];
}

/** Faults of what an operation reads first. */
function lintLookup(
  connector: Connector,
  { lookup, settings }: Operation,
  at: string,
  used: Set<string>,
): ConnectorFault[] {
  if (lookup === undefined) return [];
  const { request, found, table, needed, instead, errors = [] } = lookup;
  const names = Object.keys(settings);
  const faults: ConnectorFault[] = [];
  const pointer = `${at}/lookup`;
  if (!READS.includes(request.method)) {
    const said = message('connectors.lookup_only_reads', { method: request.method });
    faults.push({ pointer: `${pointer}/request`, message: said });
  }
  if ((found === undefined) === (table === undefined)) {
    faults.push({ pointer, message: message('connectors.found_or_table') });
  }
  if ((table?.match === undefined) !== (table?.rows === undefined)) {
    faults.push({ pointer: `${pointer}/table/rows`, message: message('connectors.rows_and_match') });
  }
  faults.push(...lintRequest(request, `${pointer}/request`, { names, known: names, used }));
  faults.push(...lintOwnAddress(connector, request, {}, `${pointer}/request`));
  const read = [found ?? null, table ?? null, errors] as JsonValue;
  faults.push(...lintTemplates(read, pointer, [...names, 'response'], used));
  const known = [...names, 'found'];
  faults.push(...lintTemplates([needed ?? '', instead?.when ?? ''], pointer, known, used));
  if (instead === undefined) return faults;
  const place = `${pointer}/instead/request`;
  faults.push(...lintRequest(instead.request, place, { names: known, known, used }));
  return [...faults, ...lintOwnAddress(connector, instead.request, {}, place)];
}

/** Settings of every trigger that an exchange may set besides the file's own. */
const SET_IN_EXCHANGES = ['existing', 'interval_s'];

function lintTrigger(connector: Connector, trigger: ConnectorTrigger, at: string): ConnectorFault[] {
  const { settings, request, items, pagination, cursor, detail, order, errors = [] } = trigger;
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
    (pagination ?? trigger.more) !== undefined &&
    order === 'oldest_first' &&
    cursor.item_time === undefined
  ) {
    add('cursor/item_time', message('connectors.item_time_missing'));
  }
  if (cursor === undefined && order === 'oldest_first' && pagination !== undefined) {
    add('cursor', message('connectors.cursor_missing'));
  }
  if (pagination !== undefined && trigger.more !== undefined)
    add('more', message('connectors.more_without_pages'));
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
  for (const [index, exchange] of trigger.exchanges.entries()) {
    const pointer = `exchanges/${index}`;
    if ((exchange.items === undefined) === (exchange.failure === undefined)) {
      add(pointer, message('connectors.items_or_failure'));
    }
    if (Number.isNaN(Date.parse(exchange.now))) add(`${pointer}/now`, message('connectors.now_not_time'));
    faults.push(...lintConfig(exchange.config, [...names, ...SET_IN_EXCHANGES], `${at}/${pointer}`));
  }
  const mayHaveNone = connector.own === true && trigger.exchanges.length === 0;
  if (!mayHaveNone && trigger.exchanges.every((exchange) => (exchange.items ?? []).length === 0)) {
    add('exchanges', message('connectors.no_item'));
  }
  return faults;
}

function lintJapanese(connector: Connector): ConnectorFault[] {
  const missing = [...new Set(textsOf(connector))].filter((text) => !Object.hasOwn(connector.ja, text));
  return [
    ...missing.map((text) => ({
      pointer: '/ja',
      message: message('connectors.no_japanese', { text: JSON.stringify(text) }),
    })),
    ...lintUnusedJapanese(connector),
  ];
}

/** Translations of texts that the file doesn't have. */
export function lintUnusedJapanese(connector: Connector): ConnectorFault[] {
  const texts = new Set(textsOf(connector));
  const unused = Object.keys(connector.ja).filter((text) => !texts.has(text));
  return unused.map((text) => ({
    pointer: joinPointer('/ja', text),
    message: message('connectors.unused_japanese'),
  }));
}

/** Every text of a connector that people see. */
function textsOf({ title, authentication, operations, triggers = [] }: Connector): string[] {
  return [
    title,
    ...(authentication.types.length === 0 ? [] : [authentication.description]),
    ...[...operations, ...triggers].flatMap((operation) => [
      operation.title,
      operation.description,
      ...(operation.sections ?? []).map((section) => section.title),
      ...operation.exchanges.map((exchange) => exchange.title),
      ...Object.values(operation.settings).flatMap(wordsOf),
    ]),
  ];
}

/** Titles, descriptions and labels of a setting. */
function wordsOf(schema: JsonSchema): string[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'title' || keyword === 'description') return typeof value === 'string' ? [value] : [];
    if (keyword === 'properties')
      return Object.values(value as JsonObject).flatMap((each) => wordsOf(each as JsonSchema));
    if (keyword === 'items') return wordsOf(value as JsonSchema);
    if (keyword === 'anyOf' && isJsonArray(value as JsonValue))
      return (value as JsonSchema[]).flatMap(wordsOf);
    if (keyword === 'x-labels' && isJsonObject(value as JsonValue))
      return Object.values(value as { [name: string]: string });
    return [];
  });
}
