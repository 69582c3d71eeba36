import { type JsonObject, type JsonValue, listPaths, parseTemplates } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import type { Operation, Pagination } from './format.ts';

/** What is wrong with a connector's file: where, and what to do about it. */
export interface ConnectorFault {
  /** A JSON Pointer into the file; empty: the file as a whole. */
  readonly pointer: string;
  /** Follows the pointer. */
  readonly message: Message;
}

/** Faults of what a node's form is made of. */
export function lintSettings(
  { settings, required, sections = [] }: Pick<Operation, 'settings' | 'required' | 'sections'>,
  at: string,
  reserved: readonly string[],
): ConnectorFault[] {
  const names = Object.keys(settings);
  const faults: ConnectorFault[] = [];
  const add = (member: string, said: Message): void =>
    void faults.push({ pointer: `${at}/${member}`, message: said });
  for (const name of required) {
    if (!names.includes(name)) add('required', message('connectors.names_no_setting', { name }));
  }
  for (const name of names) {
    if (reserved.includes(name)) add(`settings/${name}`, message('connectors.reserved_name'));
    const { title, description } = settings[name] ?? {};
    if (typeof title !== 'string' || typeof description !== 'string') {
      add(`settings/${name}`, message('connectors.title_and_description'));
    }
  }
  for (const { fields } of sections) {
    for (const name of fields) {
      if (!names.includes(name)) add('sections', message('connectors.names_no_setting', { name }));
      if (required.includes(name)) add('sections', message('connectors.hides_required', { name }));
    }
  }
  return faults;
}

export function lintPagination(pagination: Pagination | undefined, at: string): ConnectorFault[] {
  if (pagination === undefined) return [];
  const { type, into, next } = pagination;
  const faults: ConnectorFault[] = [];
  if (type !== 'link' && type !== 'next_url' && into === undefined) {
    faults.push({ pointer: `${at}/pagination/into`, message: message('connectors.into_missing', { type }) });
  }
  if (/cursor|next_url/.test(type) !== (next !== undefined)) {
    faults.push({ pointer: `${at}/pagination/next`, message: message('connectors.next_needed') });
  }
  return faults;
}

/**
 * Faults of a request.
 * @param about `names`: the settings; `known`: what its templates may read; `used` takes what they read
 */
export function lintRequest(
  request: Operation['request'],
  at: string,
  { names, known, used }: { names: readonly string[]; known: readonly string[]; used: Set<string> },
): ConnectorFault[] {
  const { path, whole = [], query = {}, headers = {}, body = null } = request;
  const faults: ConnectorFault[] = [];
  for (const name of whole) {
    if (!names.includes(name))
      faults.push({ pointer: `${at}/whole`, message: message('connectors.names_no_setting', { name }) });
  }
  faults.push(...lintTemplates({ path, query, headers, body }, at, known, used));
  const isTorn = path.split('{{').length !== path.split('}}').length;
  if (isTorn || /[?#]/.test(path.replace(/\{\{.*?\}\}/g, ''))) {
    faults.push({ pointer: `${at}/path`, message: message('connectors.path_query') });
  }
  return faults;
}

export function lintUnused(
  names: readonly string[],
  used: ReadonlySet<string>,
  at: string,
): ConnectorFault[] {
  return names
    .filter((name) => !used.has(name))
    .map((name) => ({ pointer: `${at}/settings/${name}`, message: message('connectors.never_sent') }));
}

/** Faults of the settings in a recorded exchange. */
export function lintConfig(config: JsonObject, names: readonly string[], at: string): ConnectorFault[] {
  return Object.keys(config)
    .filter((name) => !names.includes(name))
    .map((name) => ({ pointer: `${at}/config`, message: message('connectors.sets_no_setting', { name }) }));
}

/**
 * Templates that can't be parsed or read something unknown.
 * @param used takes the names that are read
 */
export function lintTemplates(
  value: JsonValue,
  at: string,
  known: readonly string[],
  used: Set<string> | null,
): ConnectorFault[] {
  const { template, errors } = parseTemplates(value, at);
  const unknown = listPaths(template, at).flatMap(({ names: [root, name = '', ...rest], pointer }) => {
    if (root !== 'args' || !known.includes(name)) {
      const path = [root, name, ...rest].join('.');
      const offered = known.map((each) => `args.${each}`).join(', ');
      return [{ pointer, message: message('connectors.reads_unknown', { path, offered }) }];
    }
    used?.add(name);
    return [];
  });
  return [...errors, ...unknown];
}
