import type { JsonValue } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import type { Connector, Operation } from './format.ts';
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
import { COMMON_SETTINGS } from './node-type.ts';

export function lintOperation(connector: Connector, operation: Operation, at: string): ConnectorFault[] {
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
