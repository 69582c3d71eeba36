import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  joinPointer,
  listPaths,
  parseTemplates,
} from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { Compile } from 'typebox/compile';
import { type Connector, connectorSchema, type Operation } from './format.ts';
import { COMMON_SETTINGS } from './node-type.ts';
import { isHost } from './request.ts';

/** What is wrong with a connector's file: where, and what to do about it. */
export interface ConnectorFault {
  /** A JSON Pointer into the file. */
  readonly pointer: string;
  readonly message: string;
}

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
  const operations = connector.operations.flatMap((operation, index) =>
    lintOperation(connector, operation, `/operations/${index}`),
  );
  return [
    ...lintBase(connector),
    ...lintTemplates([connector.reason, connector.errors ?? []] as JsonValue, '', ['response'], null),
    ...lintVersions(connector),
    ...operations,
    ...lintJapanese(connector),
  ];
}

function describe(params: object): string {
  const named = Object.values(params)
    .flat()
    .filter((each) => typeof each === 'string');
  return named.length === 0 ? '' : ` (${named.join(', ')})`;
}

function lintBase({ base_url: url, hosts, operations }: Connector): ConnectorFault[] {
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
  if (target.protocol !== 'https:') {
    return [{ pointer: '/base_url', message: 'is not https; credentials would be sent in the clear.' }];
  }
  const faults: ConnectorFault[] = [];
  if (!hosts.some((host) => isHost(target.hostname, host))) {
    faults.push({
      pointer: '/hosts',
      message: `does not list ${target.hostname}, the host of base_url; add it.`,
    });
  }
  if (parts.length > 1 && operations.some(({ pagination }) => /link|next_url/.test(pagination?.type ?? ''))) {
    faults.push({
      pointer: '/base_url',
      message: "has a template, which pages by link can't be compared with.",
    });
  }
  return faults;
}

function lintVersions({ operations }: Connector): ConnectorFault[] {
  const newest = new Map<string, number>();
  for (const { id, version = 1 } of operations) newest.set(id, Math.max(newest.get(id) ?? 0, version));
  const seen = new Set<string>();
  return operations.flatMap(({ id, version = 1, replaced }, index) => {
    const name = `${id} ${version}`;
    const pointer = `/operations/${index}`;
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

  for (const name of operation.required) {
    if (!names.includes(name)) add('required', `names ${name}, which is no setting.`);
  }
  for (const name of names) {
    if ([...COMMON_SETTINGS, 'response'].includes(name))
      add(`settings/${name}`, 'has a reserved name; choose another.');
    const { title, description } = settings[name] ?? {};
    if (typeof title !== 'string' || typeof description !== 'string') {
      add(`settings/${name}`, 'needs a title and a description.');
    }
  }
  for (const { fields } of operation.sections ?? []) {
    for (const name of fields) {
      if (!names.includes(name)) add('sections', `names ${name}, which is no setting.`);
      if (operation.required.includes(name)) add('sections', `hides ${name}, which is required.`);
    }
  }
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
  const isByAddress = pagination?.type === 'link' || pagination?.type === 'next_url';
  if (pagination !== undefined && !isByAddress && pagination.into === undefined) {
    add('pagination/into', `is missing: where does the ${pagination.type} go?`);
  }
  if (
    pagination !== undefined &&
    /cursor|next_url/.test(pagination.type) !== (pagination.next !== undefined)
  ) {
    add('pagination/next', 'is needed for a cursor or an address, and for nothing else.');
  }
  for (const name of request.whole ?? []) {
    if (!names.includes(name)) add('request/whole', `names ${name}, which is no setting.`);
  }
  const { path, query = {}, headers = {}, body = null } = request;
  const sent: JsonValue = { path, query, headers, body };
  const used = new Set<string>();
  faults.push(...lintTemplates(sent, `${at}/request`, names, used));
  faults.push(...lintTemplates(connector.base_url, '/base_url', names, used));
  const read = [
    output ?? null,
    pagination?.items ?? '',
    pagination?.next ?? '',
    errors,
  ] as unknown as JsonValue;
  faults.push(...lintTemplates(read, `${at}/output`, [...names, 'response'], null));
  for (const name of names)
    if (!used.has(name)) add(`settings/${name}`, 'is never sent; use it in the request.');
  if (
    path.split('{{').length - 1 !== path.split('}}').length - 1 ||
    /[?#]/.test(path.replace(/\{\{.*?\}\}/g, ''))
  ) {
    add('request/path', 'has a query or a fragment; write the query under query.');
  }
  for (const [index, { config, steps, output: expected, failure }] of operation.exchanges.entries()) {
    const pointer = `exchanges/${index}`;
    if ((expected === undefined) === (failure === undefined)) add(pointer, 'needs an output or a failure.');
    for (const name of Object.keys(config)) {
      if (!names.includes(name) && name !== 'limit')
        add(`${pointer}/config`, `sets ${name}, which is no setting.`);
    }
    if (steps.some(({ request: { method } }) => method !== request.method)) {
      add(`${pointer}/steps`, `has a request that is not ${request.method}.`);
    }
  }
  return faults;
}

/**
 * Templates that can't be parsed or read something unknown.
 * @param used takes the names that are read
 */
function lintTemplates(
  value: JsonValue,
  at: string,
  known: readonly string[],
  used: Set<string> | null,
): ConnectorFault[] {
  const { template, errors } = parseTemplates(value, at);
  const unparsed = errors.map(({ pointer, message }) => ({ pointer, message: inEnglish(message) }));
  const unknown = listPaths(template, at).flatMap(({ names: [root, name = '', ...rest], pointer }) => {
    if (root !== 'args' || !known.includes(name)) {
      const path = [root, name, ...rest].join('.');
      const offered = known.map((each) => `args.${each}`).join(', ');
      return [{ pointer, message: `reads ${path}, which isn't there. There is ${offered}.` }];
    }
    used?.add(name);
    return [];
  });
  return [...unparsed, ...unknown];
}

function lintJapanese(connector: Connector): ConnectorFault[] {
  const texts = new Set(textsOf(connector));
  const missing = [...texts].filter((text) => !Object.hasOwn(connector.ja, text));
  const unused = Object.keys(connector.ja).filter((text) => !texts.has(text));
  return [
    ...missing.map((text) => ({
      pointer: '/ja',
      message: `has no Japanese for ${JSON.stringify(text)}; add it.`,
    })),
    ...unused.map((text) => ({
      pointer: joinPointer('/ja', text),
      message: 'translates a text that is not in the file; remove it.',
    })),
  ];
}

/** Every text of a connector that people see. */
function textsOf({ title, authentication, operations }: Connector): string[] {
  return [
    title,
    authentication.description,
    ...operations.flatMap((operation) => [
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
