import type { JsonObject, JsonValue } from '@millrace/engine';
import { SaxesParser } from 'saxes';
import {
  type DescribedOperation,
  type DescribedSchema,
  ServiceDescription,
  type SoughtRequest,
} from './service-description.ts';

interface Element {
  readonly name: string;
  readonly attributes: { readonly [name: string]: string | undefined };
  readonly children: Element[];
}

const EDM: { readonly [type: string]: JsonObject } = {
  'Edm.Boolean': { type: 'boolean' },
  'Edm.Byte': { type: 'integer' },
  'Edm.Int16': { type: 'integer' },
  'Edm.Int32': { type: 'integer' },
  'Edm.Int64': { type: 'integer' },
  'Edm.Single': { type: 'number' },
  'Edm.Double': { type: 'number' },
  'Edm.Decimal': { type: 'number' },
  'Edm.Untyped': {},
  'Edm.PrimitiveType': {},
};
const STREAM = 'Edm.Stream';
/** What any list takes, and what a single resource does. */
const OF_LISTS = [
  '$select',
  '$expand',
  '$filter',
  '$orderby',
  '$top',
  '$skip',
  '$skiptoken',
  '$count',
  '$search',
];
const OF_ONE = ['$select', '$expand'];

/** Where a path has led to: a type, or a call that is bound to one. */
interface Place {
  readonly type: string;
  readonly isList: boolean;
  readonly call?: Element;
}

/**
 * A service in OData's CSDL. It has no list of paths: they follow from the sets, the types, how types lead to others, and what is bound to them. So the
 * path of a request is followed from its first step.
 */
export class ODataDescription extends ServiceDescription {
  readonly #types = new Map<string, Element>();
  readonly #roots = new Map<string, Place>();
  readonly #calls: Element[] = [];
  readonly #derived = new Map<string, string[]>();

  constructor(text: string) {
    const schemas = elementsOf(text).filter(({ name }) => name === 'Schema');
    const names = namesIn(schemas);
    const document: { [name: string]: JsonValue } = {};
    super({ components: { schemas: document } });
    for (const {
      attributes: { Namespace: space = '' },
      children,
    } of schemas) {
      for (const child of children) {
        if (child.name === 'Action' || child.name === 'Function') this.#calls.push(resolved(child, names));
        else if (child.name === 'EntityContainer') this.#addRoots(resolved(child, names));
        else this.#addType(`${space}.${child.attributes.Name ?? ''}`, resolved(child, names));
      }
    }
    for (const name of this.#types.keys()) document[name] = this.#schemaOf(name);
  }

  override find({ method, path }: SoughtRequest): DescribedOperation | undefined {
    // The first step is the version of the service.
    const place = this.#follow(path.split('/').slice(2));
    if (place === undefined) return undefined;
    const { type, isList, call } = place;
    const expected = call === undefined ? null : call.name === 'Action' ? 'POST' : 'GET';
    if (expected !== null && expected !== method) return undefined;
    const isStream = type === STREAM;
    const item = isStream ? null : referenceTo(type);
    const isPage = isList && (method !== 'POST' || call !== undefined);
    const answer = isPage
      ? {
          type: 'object',
          properties: { value: { type: 'array', items: item ?? {} }, '@odata.nextLink': {} },
          ...ANNOTATED,
        }
      : item;
    return {
      method,
      path,
      parameters: this.#queryOf(method, place, path).map((name) => ({
        name,
        in: 'query',
        isRequired: false,
        schema: null,
      })),
      body: bodyOf(method, place, item),
      answer: method === 'DELETE' || type === '' ? null : answer,
      isDeprecated: false,
    };
  }

  #queryOf(method: string, { isList, call }: Place, path: string): readonly string[] {
    if (method !== 'GET' && method !== 'POST') return [];
    const own = call === undefined ? [] : parametersOf(call).map(nameOf);
    const days = path.endsWith('/calendarView') ? ['startDateTime', 'endDateTime'] : [];
    return [...(isList ? OF_LISTS : OF_ONE), ...days, ...(method === 'GET' ? own : [])];
  }

  #follow([first = '', ...steps]: readonly string[]): Place | undefined {
    let place = this.#roots.get(first);
    let isByPath = false;
    for (const step of steps) {
      if (place === undefined) return undefined;
      // `root:/a/b:/content`: between the colons stands a path, which leads to the same type.
      if (isByPath) {
        isByPath = !step.endsWith(':');
        continue;
      }
      isByPath = step.endsWith(':');
      place = this.#step(place, isByPath ? step.slice(0, -1) : step);
    }
    return place;
  }

  #step({ type, isList }: Place, step: string): Place | undefined {
    const bound = this.#calls.find((call) => isCall(call, step) && this.#isBoundTo(call, type, isList));
    if (bound !== undefined) {
      const returned = bound.children.find(({ name }) => name === 'ReturnType')?.attributes.Type ?? '';
      return { ...placeOf(returned), call: bound };
    }
    if (isList) return step.includes('{') ? { type, isList: false } : undefined;
    const member = this.#membersOf(type).find(({ attributes: { Name } }) => Name === step);
    if (member !== undefined) return placeOf(member.attributes.Type ?? '');
    // The content of a resource that has one isn't among its members.
    return step === 'content' || step === '$value' ? { type: STREAM, isList: false } : undefined;
  }

  #isBoundTo(call: Element, type: string, isList: boolean): boolean {
    const given = placeOf(call.children.find(({ name }) => name === 'Parameter')?.attributes.Type ?? '');
    return given.isList === isList && this.#lineOf(type).includes(given.type);
  }

  /** A type and those that it is based on. */
  #lineOf(type: string): readonly string[] {
    const base = this.#types.get(type)?.attributes.BaseType;
    return base === undefined ? [type] : [type, ...this.#lineOf(base)];
  }

  #membersOf(type: string): readonly Element[] {
    return this.#lineOf(type).flatMap((each) => this.#types.get(each)?.children ?? []);
  }

  #addRoots({ children }: Element): void {
    for (const { attributes } of children) {
      const { Name = '', EntityType, Type } = attributes;
      if (EntityType !== undefined) this.#roots.set(Name, { type: EntityType, isList: true });
      else if (Type !== undefined) this.#roots.set(Name, { type: Type, isList: false });
    }
  }

  #addType(name: string, element: Element): void {
    this.#types.set(name, element);
    const { BaseType } = element.attributes;
    if (BaseType !== undefined) this.#derived.set(BaseType, [...(this.#derived.get(BaseType) ?? []), name]);
  }

  #schemaOf(type: string): JsonValue {
    const { name, attributes, children } = this.#types.get(type) ?? {
      name: '',
      attributes: {},
      children: [],
    };
    if (name === 'EnumType')
      return { type: 'string', enum: children.map((each) => each.attributes.Name ?? '') };
    const members = this.#membersOf(type).filter((each) => each.name.endsWith('Property'));
    // Open types may have members of a client's own, which no connector has: they are taken as closed, or nothing could be misspelt.
    // Graph's Json is a type without members: it stands for any value.
    if (members.length === 0) return {};
    const own: JsonObject = {
      type: 'object',
      properties: Object.fromEntries(
        members.map((each): [string, JsonValue] => [
          each.attributes.Name ?? '',
          schemaOf(each.attributes.Type ?? ''),
        ]),
      ),
      ...ANNOTATED,
    };
    const derived = attributes.Abstract === 'true' ? (this.#derived.get(type) ?? []) : [];
    return derived.length === 0 || derived.length > MAX_DERIVED
      ? own
      : { anyOf: [own, ...derived.map(referenceTo)] };
  }
}

/** Types such as Graph's entity are the base of nearly all others, and say nothing. */
const MAX_DERIVED = 20;
/** Any object may have annotations, such as `@odata.type`. */
const ANNOTATED: JsonObject = { patternProperties: { '@': {} } };

function bodyOf(
  method: string,
  { type, isList, call }: Place,
  item: DescribedSchema,
): DescribedOperation['body'] {
  if (call !== undefined) {
    const given = call.name === 'Action' ? parametersOf(call) : [];
    if (given.length === 0) return null;
    const properties = given.map((each): [string, JsonValue] => [
      nameOf(each),
      schemaOf(each.attributes.Type ?? ''),
    ]);
    const required = given.filter(({ attributes }) => attributes.Nullable === 'false').map(nameOf);
    return {
      types: ['application/json'],
      schema: { type: 'object', properties: Object.fromEntries(properties), required },
    };
  }
  if (type === STREAM) return method === 'PUT' ? { types: ['application/octet-stream'], schema: null } : null;
  const isTaken = method === 'PATCH' || method === 'PUT' || (method === 'POST' && isList);
  return isTaken ? { types: ['application/json'], schema: item } : null;
}

/** Of a parameter. Graph's types begin some with a capital, its reference none; the service takes both. */
function nameOf({ attributes: { Name = '' } }: Element): string {
  return Name.charAt(0).toLowerCase() + Name.slice(1);
}

function isCall({ attributes: { Name = '' } }: Element, step: string): boolean {
  return step.replace(/\(.*\)$/, '').replace(/^microsoft\.graph\./, '') === Name;
}

/** Without the one that it is bound to. */
function parametersOf({ children }: Element): readonly Element[] {
  return children.filter(({ name }) => name === 'Parameter').slice(1);
}

function placeOf(type: string): Place {
  const inside = /^Collection\((.*)\)$/.exec(type)?.[1];
  return { type: inside ?? type, isList: inside !== undefined };
}

function schemaOf(given: string): JsonObject {
  const { type, isList } = placeOf(given);
  const one = type.startsWith('Edm.') ? (EDM[type] ?? { type: 'string' }) : referenceTo(type);
  return isList ? { type: 'array', items: one } : one;
}

function referenceTo(type: string): JsonObject {
  return { $ref: `#/components/schemas/${type}` };
}

/** Short names of namespaces. */
function namesIn(schemas: readonly Element[]): ReadonlyMap<string, string> {
  return new Map(
    schemas.flatMap(({ attributes: { Alias, Namespace } }) =>
      Alias === undefined || Namespace === undefined ? [] : [[Alias, Namespace] as const],
    ),
  );
}

/** With the whole names of types. */
function resolved({ name, attributes, children }: Element, names: ReadonlyMap<string, string>): Element {
  const whole = Object.entries(attributes).map(([key, value = '']) => [
    key,
    /^(Type|BaseType|EntityType)$/.test(key)
      ? value.replace(/(^|\()(\w+)\.(?=\w+\)?$)/, (text, before: string, alias: string) => {
          const space = names.get(alias);
          return space === undefined ? text : `${before}${space}.`;
        })
      : value,
  ]);
  return {
    name,
    attributes: Object.fromEntries(whole),
    children: children.map((each) => resolved(each, names)),
  };
}

/**
 * All elements, each with those that it contains. CSDL keeps everything in attributes, so texts don't matter.
 * @throws Error if it isn't well-formed
 */
function elementsOf(text: string): readonly Element[] {
  const all: Element[] = [];
  const open: Element[] = [];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => {
    const element: Element = { name, attributes, children: [] };
    open.at(-1)?.children.push(element);
    all.push(element);
    open.push(element);
  });
  parser.on('closetag', () => void open.pop());
  parser.write(text).close();
  return all;
}
