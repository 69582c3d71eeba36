import { type JsonObject, type JsonValue, listPaths, parseTemplates } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import type { Operation, Pagination } from './format.ts';

/** What is wrong with a connector's file: where, and what to do about it. */
export interface ConnectorFault {
  /** A JSON Pointer into the file. */
  readonly pointer: string;
  readonly message: string;
}

/** Faults of what a node's form is made of. */
export function lintSettings(
  { settings, required, sections = [] }: Pick<Operation, 'settings' | 'required' | 'sections'>,
  at: string,
  reserved: readonly string[],
): ConnectorFault[] {
  const names = Object.keys(settings);
  const faults: ConnectorFault[] = [];
  const add = (member: string, message: string): void =>
    void faults.push({ pointer: `${at}/${member}`, message });
  for (const name of required) {
    if (!names.includes(name)) add('required', `names ${name}, which is no setting.`);
  }
  for (const name of names) {
    if (reserved.includes(name)) add(`settings/${name}`, 'has a reserved name; choose another.');
    const { title, description } = settings[name] ?? {};
    if (typeof title !== 'string' || typeof description !== 'string') {
      add(`settings/${name}`, 'needs a title and a description.');
    }
  }
  for (const { fields } of sections) {
    for (const name of fields) {
      if (!names.includes(name)) add('sections', `names ${name}, which is no setting.`);
      if (required.includes(name)) add('sections', `hides ${name}, which is required.`);
    }
  }
  return faults;
}

export function lintPagination(pagination: Pagination | undefined, at: string): ConnectorFault[] {
  if (pagination === undefined) return [];
  const { type, into, next } = pagination;
  const faults: ConnectorFault[] = [];
  if (type !== 'link' && type !== 'next_url' && into === undefined) {
    faults.push({ pointer: `${at}/pagination/into`, message: `is missing: where does the ${type} go?` });
  }
  if (/cursor|next_url/.test(type) !== (next !== undefined)) {
    const message = 'is needed for a cursor or an address, and for nothing else.';
    faults.push({ pointer: `${at}/pagination/next`, message });
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
      faults.push({ pointer: `${at}/whole`, message: `names ${name}, which is no setting.` });
  }
  faults.push(...lintTemplates({ path, query, headers, body }, at, known, used));
  const isTorn = path.split('{{').length !== path.split('}}').length;
  if (isTorn || /[?#]/.test(path.replace(/\{\{.*?\}\}/g, ''))) {
    const message = 'has a query or a fragment; write the query under query.';
    faults.push({ pointer: `${at}/path`, message });
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
    .map((name) => ({ pointer: `${at}/settings/${name}`, message: 'is never sent; use it in the request.' }));
}

/** Faults of the settings in a recorded exchange. */
export function lintConfig(config: JsonObject, names: readonly string[], at: string): ConnectorFault[] {
  return Object.keys(config)
    .filter((name) => !names.includes(name))
    .map((name) => ({ pointer: `${at}/config`, message: `sets ${name}, which is no setting.` }));
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
