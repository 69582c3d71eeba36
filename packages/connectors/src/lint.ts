import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  joinPointer,
} from '@millrace/engine';
import { Compile } from 'typebox/compile';
import { type Connector, type ConnectorTrigger, connectorSchema, type Operation } from './format.ts';
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
    return [...validator.Errors(file)].map(({ instancePath, message, params }) => ({
      pointer: instancePath,
      message: `${message}${describe(params)}. See packages/connectors/src/format.ts.`,
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

function lintBase({
  base_url: url,
  hosts,
  operations,
  triggers = [],
  authentication,
  own,
}: Connector): ConnectorFault[] {
  const parts = url.split(/\{\{.*?\}\}/);
  if (parts.length > 2 || url.replace(/\{\{.*?\}\}/, '').includes('{{')) {
    return [
      {
        pointer: '/base_url',
        message: 'has several templates; one, a label of the host name, is possible.',
      },
    ];
  }
  const target = URL.parse(parts.join('example'));
  if (target === null || target.search !== '' || target.username !== '') {
    return [
      { pointer: '/base_url', message: 'is no plain address; write https://host/path without a query.' },
    ];
  }
  // Services within a house often have no certificate, as those that http.request calls.
  if (target.protocol !== 'https:' && own !== true) {
    return [{ pointer: '/base_url', message: 'is not https; credentials would be sent in the clear.' }];
  }
  const faults: ConnectorFault[] = [];
  const { types, chat } = authentication;
  if (types.includes('chat') !== (chat !== undefined) || (chat !== undefined && types.length > 1)) {
    const message = "needs chat for the type 'chat', which goes with no other type.";
    faults.push({ pointer: '/authentication', message });
  }
  if (chat !== undefined && parts.length > 1) {
    faults.push({
      pointer: '/base_url',
      message: 'has a template, but the token stands between address and path.',
    });
  }
  if (hosts.includes('*') && !/^https:\/\/\{\{[^{}]*\}\}(?:\/|$)/.test(url)) {
    const message = "has '*', which is only for an address whose whole host is a template.";
    faults.push({ pointer: '/hosts', message });
  }
  if (!hosts.some((host) => isHost(target.hostname, host))) {
    faults.push({
      pointer: '/hosts',
      message: `does not list ${target.hostname}, the host of base_url; add it.`,
    });
  }
  const paged = [...operations, ...triggers];
  if (parts.length > 1 && paged.some(({ pagination }) => /link|next_url/.test(pagination?.type ?? ''))) {
    faults.push({
      pointer: '/base_url',
      message: "has a template, which pages by link can't be compared with.",
    });
  }
  return faults;
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
    if (seen.has(name)) return [{ pointer, message: `${id} is there twice; give the new one a version.` }];
    seen.add(name);
    const isOld = version < (newest.get(id) ?? 1);
    if (isOld === (replaced === true)) return [];
    return [
      {
        pointer: `${pointer}/replaced`,
        message: isOld ? 'is missing: there is a newer version.' : 'is true, but there is no newer version.',
      },
    ];
  });
}

function lintOperation(connector: Connector, operation: Operation, at: string): ConnectorFault[] {
  const { settings, request, output, pagination, errors = [], effect, repetition, key } = operation;
  const names = Object.keys(settings);
  const faults: ConnectorFault[] = [];
  const add = (member: string, message: string): void =>
    void faults.push({ pointer: `${at}/${member}`, message });

  faults.push(...lintSettings(operation, at, [...COMMON_SETTINGS, 'response']));
  if (effect !== (repetition !== undefined)) {
    add(
      'repetition',
      effect ? 'is missing: say whether a repeated request does harm.' : 'is only for effects.',
    );
  }
  if ((repetition === 'keyed') !== (key !== undefined)) {
    add('key', "and repetition 'keyed' belong together.");
  }
  if (effect && pagination !== undefined) add('pagination', 'is only for operations without an effect.');
  if (!effect && !['GET', 'POST'].includes(request.method)) {
    add('effect', `is false, but ${request.method} changes something.`);
  }
  if ((output === undefined) === (pagination === undefined)) {
    add('output', 'or pagination is needed, and only one of them.');
  }
  faults.push(...lintPagination(pagination, at));
  const used = new Set<string>();
  faults.push(...lintRequest(request, `${at}/request`, { names, known: names, used }));
  faults.push(...lintTemplates(connector.base_url, '/base_url', names, used));
  const read = [output ?? null, pagination?.items ?? '', pagination?.next ?? '', errors];
  faults.push(...lintTemplates(read, `${at}/output`, [...names, 'response'], null));
  faults.push(...lintUnused(names, used, at));
  for (const [index, { config, steps, output: expected, failure }] of operation.exchanges.entries()) {
    const pointer = `exchanges/${index}`;
    if ((expected === undefined) === (failure === undefined)) add(pointer, 'needs an output or a failure.');
    faults.push(...lintConfig(config, [...names, 'limit'], `${at}/${pointer}`));
    if (steps.some(({ request: { method } }) => method !== request.method)) {
      add(`${pointer}/steps`, `has a request that is not ${request.method}.`);
    }
  }
  return faults;
}

/** Settings of every trigger that an exchange may set besides the file's own. */
const SET_IN_EXCHANGES = ['existing', 'interval_s'];

function lintTrigger(connector: Connector, trigger: ConnectorTrigger, at: string): ConnectorFault[] {
  const { settings, request, items, pagination, cursor, detail, order, errors = [] } = trigger;
  const names = Object.keys(settings);
  const faults: ConnectorFault[] = [];
  const add = (member: string, message: string): void =>
    void faults.push({ pointer: `${at}/${member}`, message });

  faults.push(...lintSettings(trigger, at, [...TRIGGER_SETTINGS, ...TRIGGER_VALUES]));
  for (const [member, { method }] of [
    ['request', request] as const,
    ['detail/request', detail?.request] as const,
  ].flatMap(([name, each]) => (each === undefined ? [] : [[name, each] as const]))) {
    if (!['GET', 'POST'].includes(method)) add(member, `changes something by ${method}; a poll only reads.`);
  }
  if ((items === undefined) === (pagination === undefined)) {
    add('items', 'or pagination is needed, and only one of them.');
  }
  faults.push(...lintPagination(pagination, at));
  if (
    cursor?.type === 'value' &&
    (cursor.next === undefined || cursor.item_time !== undefined || cursor.overlap_s !== undefined)
  ) {
    add('cursor', "of the type 'value' has next, and neither item_time nor overlap_s.");
  }
  if (cursor?.type === 'time' && cursor.next !== undefined)
    add('cursor/next', "is only for the type 'value'.");
  if (
    cursor?.type === 'time' &&
    (pagination ?? trigger.more) !== undefined &&
    order === 'oldest_first' &&
    cursor.item_time === undefined
  ) {
    add('cursor/item_time', 'is missing: a list that is cut continues at the time of its last item.');
  }
  if (cursor === undefined && order === 'oldest_first' && pagination !== undefined) {
    add('cursor', 'is missing: a list that begins with the oldest item would never reach the newest.');
  }
  if (pagination !== undefined && trigger.more !== undefined)
    add('more', 'is only for a list without pages.');
  const begin = [
    'now',
    ...(cursor === undefined ? [] : cursor.type === 'time' ? ['since', 'since_s'] : ['cursor']),
  ];
  const used = new Set<string>();
  faults.push(...lintRequest(request, `${at}/request`, { names, known: [...names, ...begin], used }));
  faults.push(...lintTemplates(connector.base_url, '/base_url', names, used));
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
    read('detail/output', detail.output, ['item', 'response']);
  }
  if (
    cursor !== undefined &&
    cursor.item_time === undefined &&
    !begin.slice(1).some((name) => used.has(name))
  ) {
    add('cursor', `is never read; use args.${cursor.type === 'time' ? 'since' : 'cursor'} in the request.`);
  }
  faults.push(...lintUnused(names, used, at));
  for (const [index, exchange] of trigger.exchanges.entries()) {
    const pointer = `exchanges/${index}`;
    if ((exchange.items === undefined) === (exchange.failure === undefined)) {
      add(pointer, 'needs items or a failure.');
    }
    if (Number.isNaN(Date.parse(exchange.now))) add(`${pointer}/now`, 'is no time in ISO 8601.');
    faults.push(...lintConfig(exchange.config, [...names, ...SET_IN_EXCHANGES], `${at}/${pointer}`));
  }
  const mayHaveNone = connector.own === true && trigger.exchanges.length === 0;
  if (!mayHaveNone && trigger.exchanges.every((exchange) => (exchange.items ?? []).length === 0)) {
    add('exchanges', 'show no item; record a poll that finds one.');
  }
  return faults;
}

function lintJapanese(connector: Connector): ConnectorFault[] {
  const missing = [...new Set(textsOf(connector))].filter((text) => !Object.hasOwn(connector.ja, text));
  return [
    ...missing.map((text) => ({
      pointer: '/ja',
      message: `has no Japanese for ${JSON.stringify(text)}; add it.`,
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
    message: 'translates a text that is not in the file; remove it.',
  }));
}

/** Every text of a connector that people see. */
function textsOf({ title, authentication, operations, triggers = [] }: Connector): string[] {
  return [
    title,
    authentication.description,
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
