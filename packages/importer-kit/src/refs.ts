import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';

/** The body of a loop, or the top level (`id` null). */
export interface Scope {
  readonly id: string | null;
  readonly parent: Scope | null;
  /** `items`: opened because a list has many items; `batch`: a loop of the original; `repeat`: one that its connections make. */
  readonly kind: 'top' | 'items' | 'batch' | 'repeat';
  /** What the loop goes through, to recognise a second reader of the same list. */
  readonly list: string;
}

export const TOP: Scope = { id: null, parent: null, kind: 'top', list: '' };

/** Members of an original item that have another place here, by dotted path. */
export type Shape = { readonly [path: string]: readonly string[] | null };

/**
 * Where the items that an output of an original node passes on are found here: one item, or a list of them. `path` is the inside of a
 * template; it may end in filters if it is a list.
 */
export interface Ref {
  readonly kind: 'one' | 'many';
  readonly path: string;
  readonly scope: Scope;
  /** The node whose output it is; null for the item of a loop. A skipped node's output is null. */
  readonly owner: string | null;
  readonly shape?: Shape;
  /** The files that belong to a single item, by the name that the original has for them: insides of templates. */
  readonly files?: { readonly [name: string]: string };
  /** Of a list: a name for what says which files each of its items has. */
  readonly each?: string;
  /** Of a single item that may turn out to be a list, each element of which is an item: the original node that it comes from. */
  readonly perhapsMany?: string;
}

/** A path that finds nothing in any workflow. */
export const MISSING = 'trigger.data["(not available)"]';

const SIMPLE_NAME = /^[A-Za-z_$][\w$-]*$/;

/** A path extended by names, as templates write it. */
export function extend(path: string, names: readonly string[]): string {
  return names.reduce((at, name) => {
    if (/^(?:0|[1-9]\d{0,8})$/.test(name)) return `${at}[${name}]`;
    return SIMPLE_NAME.test(name) ? `${at}.${name}` : `${at}[${quote(name)}]`;
  }, path);
}

/** A text as a literal of a template. */
export function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;
}

/** A path as a template. */
export function template(path: string): string {
  return `{{${path}}}`;
}

/** The inside of a template to be used within an expression: in parentheses, unless it is a path. */
export function operand(path: string): string {
  return path.replace(/"(?:[^"\\]|\\.)*"/g, '').includes(' ') ? `(${path})` : path;
}

/** The inside of a text that is one template and nothing else; null for any other text. */
export function insideOf(text: string): string | null {
  return /^\{\{((?:(?!\}\}).)*)\}\}$/s.exec(text)?.[1] ?? null;
}

/** A text as a part of a URL: escaped, unless templates are only a part of it. */
export function inUrl(text: string): string {
  const inside = insideOf(text);
  if (inside !== null) return template(`${inside} | url_encode`);
  return text.includes('{{') ? text : encodeURIComponent(text);
}

/** The inside of a template for the first of these paths that finds something. */
export function firstOf(paths: readonly string[]): string {
  return paths.join(' | default: ');
}

/** Text that is no template, even if it contains braces. */
export function literal(text: string): string {
  return text.replace(/(\\*)\{\{/g, (_found, slashes: string) => `${slashes}${slashes}\\{{`);
}

/** A value in which no text is a template. */
export function literalValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return literal(value);
  if (Array.isArray(value)) return value.map(literalValue);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, literalValue(item ?? null)]));
}

/** The path of a member of an item; null if Millrace doesn't have it. */
export function memberPath(ref: Ref, names: readonly string[]): string | null {
  for (let length = names.length; length > 0; length -= 1) {
    const place = ref.shape?.[names.slice(0, length).join('.')];
    if (place === null) return null;
    if (place !== undefined) return extend(ref.path, [...place, ...names.slice(length)]);
  }
  // A trigger has nothing but the members that the shape names.
  return ref.path === 'trigger' ? null : extend(ref.path, names);
}

/** The whole item, or the list of items, as a value with templates. */
export function wholeValue(ref: Ref): JsonValue {
  if (ref.kind === 'many' || ref.shape === undefined) return template(ref.path);
  const whole: { [name: string]: JsonValue } = {};
  for (const [path, place] of Object.entries(ref.shape)) {
    if (place === null || /(^|\.)\d/.test(path)) continue;
    setDeep(whole, path.split('.'), template(extend(ref.path, place)));
  }
  return whole;
}

/** The items as a list. */
export function listValue(ref: Ref): JsonValue {
  if (ref.perhapsMany !== undefined) return template(asList(ref.path));
  return ref.kind === 'many' ? template(ref.path) : [wholeValue(ref)];
}

/** The inside of a template for a value that is a list, or else the only element of one. */
export function asList(path: string): string {
  return `${path} | concat: null`;
}

function setDeep(target: { [name: string]: JsonValue }, names: readonly string[], value: JsonValue): void {
  const [name = '', ...rest] = names;
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const inner = target[name];
  const next: { [name: string]: JsonValue } =
    inner !== undefined && isJsonObject(inner) ? { ...(inner as JsonObject) } : {};
  setDeep(next, rest, value);
  target[name] = next;
}

/** The innermost scope around both. */
export function commonScope(left: Scope, right: Scope): Scope {
  const around = new Set<Scope>();
  for (let at: Scope | null = left; at !== null; at = at.parent) around.add(at);
  for (let at: Scope | null = right; at !== null; at = at.parent) if (around.has(at)) return at;
  return TOP;
}

/** Whether a node in `inner` may read what is in `outer`. */
export function isWithin(inner: Scope, outer: Scope): boolean {
  for (let at: Scope | null = inner; at !== null; at = at.parent) if (at === outer) return true;
  return false;
}

/** The scope in which whole lists are processed: the nearest one that n8n itself would loop in. */
export function listScope(scope: Scope): Scope {
  let at = scope;
  while (at.kind === 'items' && at.parent !== null) at = at.parent;
  return at;
}

/** Whether two outputs pass on the same items. */
export function isSameRef(left: Ref, right: Ref): boolean {
  return (
    left.path === right.path &&
    left.kind === right.kind &&
    left.scope === right.scope &&
    JSON.stringify(left.shape) === JSON.stringify(right.shape)
  );
}
