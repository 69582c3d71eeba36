import type { JsonObject, JsonValue } from '@millrace/engine';

const PRIMITIVES: { readonly [type: string]: JsonObject } = {
  String: { type: 'string' },
  Timestamp: { type: 'string' },
  Bytes: { type: 'string' },
  Boolean: { type: 'boolean' },
  Int32: { type: 'integer' },
  Int64: { type: 'integer' },
  UInt32: { type: 'integer' },
  UInt64: { type: 'integer' },
  Float32: { type: 'number' },
  Float64: { type: 'number' },
  Void: { type: 'null' },
};

/** A line of a definition, with what is indented below it. */
interface Line {
  readonly text: string;
  readonly below: Line[];
}

/** The namespaces of descriptions in Stone, the language of Dropbox, as OpenAPI would describe their routes. */
export function describeStone(files: readonly string[]): JsonObject {
  const paths: { [path: string]: JsonValue } = {};
  const schemas: { [name: string]: JsonValue } = {};
  for (const file of files) {
    const lines = linesOf(file);
    const namespace = /^namespace (\w+)/.exec(
      lines.find((each) => each.text.startsWith('namespace'))?.text ?? '',
    );
    const space = namespace?.[1] ?? '';
    for (const line of lines) {
      const route = /^route ([\w/]+)(?::(\d+))? \((.+)\)( deprecated)?/.exec(line.text);
      if (route !== null) {
        const [, name = '', version, types = '', deprecated] = route;
        const [given = 'Void', answer = 'Void'] = partsOf(types);
        const path = `/2/${space}/${name}${version === undefined ? '' : `_v${version}`}`;
        paths[path] = { post: operationOf(space, { given, answer, style: styleOf(line), deprecated }) };
      }
      const defined = /^(alias|struct|union|union_closed) (\w+)(?: = (.+)| extends ([\w.]+))?/.exec(
        line.text,
      );
      if (defined === null) continue;
      const [, kind, name = '', alias, parent] = defined;
      const id = `${space}.${name}`;
      if (kind === 'alias') schemas[id] = schemaOfType(space, alias ?? '');
      else if (kind !== 'struct') schemas[id] = schemaOfUnion(space, line, parent);
      else {
        schemas[baseOf(id)] = schemaOfStruct(space, line, parent);
        schemas[id] = { anyOf: [{ $ref: `#/components/schemas/${baseOf(id)}` }, ...kindsOf(space, line)] };
      }
    }
  }
  return { paths, components: { schemas } };
}

interface Route {
  readonly given: string;
  readonly answer: string;
  readonly style: string;
  readonly deprecated: string | undefined;
}

/** What a body is: `rpc` if it has the arguments, else that of a file. */
function styleOf({ below }: Line): string {
  const attributes = below.find(({ text }) => text === 'attrs')?.below ?? [];
  const style = attributes.flatMap(({ text }) => /^style = "(\w+)"/.exec(text)?.[1] ?? []);
  return style[0] ?? 'rpc';
}

function operationOf(space: string, { given, answer, style, deprecated }: Route): JsonObject {
  const json = { 'application/json': { schema: schemaOfType(space, given) } };
  const file = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
  const hasBody = style === 'rpc' ? given !== 'Void' : style === 'upload';
  return {
    // As JSON: the body is taken by the file. A header can have them, too.
    ...(style === 'rpc'
      ? {}
      : { parameters: [{ in: 'query', name: 'arg', required: true, schema: { type: 'string' } }] }),
    ...(hasBody ? { requestBody: { content: style === 'rpc' ? json : file } } : {}),
    responses: { '200': { content: { 'application/json': { schema: schemaOfType(space, answer) } } } },
    ...(deprecated === undefined ? {} : { deprecated: true }),
  };
}

/** Without comments and texts, which may have several lines; what is a word is kept. */
function linesOf(file: string): Line[] {
  const plain = file
    .replace(/"(?:[^"\\]|\\.)*"/gs, (text) => (/^"\w+"$/.test(text) ? text : '""'))
    .replace(/#.*$/gm, '');
  const root: Line = { text: '', below: [] };
  const open: { indent: number; line: Line }[] = [{ indent: -1, line: root }];
  for (const line of plain.split('\n')) {
    if (line.trim() === '' || line.trim() === '""') continue;
    const indent = line.length - line.trimStart().length;
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const entry: Line = { text: line.trim(), below: [] };
    (open.at(-1)?.line ?? root).below.push(entry);
    open.push({ indent, line: entry });
  }
  return root.below;
}

const NO_FIELD = /^(example|attrs|annotation|@)/;
const KINDS = /^union(_closed)?\*?$/;

function schemaOfStruct(space: string, { below }: Line, parent: string | undefined): JsonObject {
  const fields = below.flatMap(({ text }) => {
    const field = /^(\w+)\*? (.+?)( = .+)?$/.exec(text);
    return field === null || NO_FIELD.test(text) || KINDS.test(text) ? [] : [field];
  });
  const properties = fields.map(([, name = '', type = '']): [string, JsonValue] => [
    name,
    schemaOfType(space, type),
  ]);
  const required = fields.flatMap(([, name = '', type = '', byDefault]) =>
    byDefault === undefined && !type.endsWith('?') ? [name] : [],
  );
  const own: JsonObject = { type: 'object', properties: Object.fromEntries(properties), required };
  if (parent === undefined) return own;
  const id = parent.includes('.') ? parent : `${space}.${parent}`;
  return { allOf: [own, { $ref: `#/components/schemas/${baseOf(id)}` }] };
}

/** The members of a struct without the kinds that it has, which extend it. */
function baseOf(id: string): string {
  return `${id} base`;
}

/** The structs that stand for one, each with its tag. */
function kindsOf(space: string, { below }: Line): JsonObject[] {
  const kinds = below.find(({ text }) => KINDS.test(text))?.below ?? [];
  return kinds.map(({ text }) => {
    const [tag = '', type = ''] = text.split(' ');
    return { allOf: [tagOf(tag), schemaOfType(space, type)] };
  });
}

/** A value is the name of its kind, or an object with it and what belongs to it. */
function schemaOfUnion(space: string, { below }: Line, parent: string | undefined): JsonObject {
  const kinds = below.flatMap(({ text }) => {
    const kind = /^(\w+)\*?(?: (.+))?$/.exec(text);
    return kind === null || NO_FIELD.test(text) ? [] : [kind];
  });
  const alternatives = kinds.flatMap(([, tag = '', type]): JsonObject[] => {
    if (type === undefined) return [{ type: 'string', enum: [tag] }, tagOf(tag)];
    const value = schemaOfType(space, type);
    const member = { allOf: [tagOf(tag), { type: 'object', properties: { [tag]: value } }] };
    // What a struct has stands beside the tag, anything else below its name; which of both a name is, isn't known here.
    return '$ref' in value ? [{ allOf: [tagOf(tag), value] }, member] : [member];
  });
  return { anyOf: [...alternatives, ...(parent === undefined ? [] : [schemaOfType(space, parent)])] };
}

function tagOf(tag: string): JsonObject {
  return { type: 'object', properties: { '.tag': { type: 'string', enum: [tag] } } };
}

function schemaOfType(space: string, given: string): JsonObject {
  const type = given.trim().replace(/\?$/, '');
  const called = /^(\w+)\((.*)\)$/s.exec(type);
  const [name, inside] = called === null ? [type, ''] : [called[1] ?? '', called[2] ?? ''];
  if (name === 'List') return { type: 'array', items: schemaOfType(space, partsOf(inside)[0] ?? '') };
  if (name === 'Map') return { type: 'object', additionalProperties: true };
  const bounds = partsOf(inside).flatMap((part): [string, JsonValue][] => {
    const bound = /^(min|max)_value=(\d+)$/.exec(part);
    return bound === null ? [] : [[`${bound[1]}imum`, Number(bound[2])]];
  });
  const primitive = PRIMITIVES[name];
  if (primitive !== undefined) return { ...primitive, ...Object.fromEntries(bounds) };
  return { $ref: `#/components/schemas/${name.includes('.') ? name : `${space}.${name}`}` };
}

/** Splits at the commas that aren't in parentheses. */
function partsOf(text: string): string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const sign of text) {
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (sign === ',' && depth === 0) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${sign}`);
  }
  return parts.map((each) => each.trim());
}
