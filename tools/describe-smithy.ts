import type { JsonObject, JsonValue } from '@millrace/engine';
import { listOf, objectOf, textOf } from './service-description.ts';

const SCALARS: { readonly [type: string]: JsonObject } = {
  string: { type: 'string' },
  timestamp: { type: 'string' },
  boolean: { type: 'boolean' },
  byte: { type: 'integer' },
  short: { type: 'integer' },
  integer: { type: 'integer' },
  long: { type: 'integer' },
  float: { type: 'number' },
  double: { type: 'number' },
};

/** Whether a document is a model in Smithy's JSON form, as AWS describes its services. */
export function isSmithy(document: JsonObject): boolean {
  return typeof document.smithy === 'string';
}

/** The operations of a Smithy model that are bound to HTTP, as OpenAPI would describe them. */
export function describeSmithy(model: JsonObject): JsonObject {
  const shapes = objectOf(model.shapes);
  const paths: { [path: string]: { [method: string]: JsonValue } } = {};
  for (const shape of Object.values(shapes).map(objectOf)) {
    const http = objectOf(traitsOf(shape)['smithy.api#http']);
    if (shape.type !== 'operation' || typeof http.uri !== 'string') continue;
    // What stands in the query of an address only tells operations apart; `x-id` isn't even looked at.
    const path = http.uri.replace(/\?x-id=\w+$/, '').replaceAll('+}', '}');
    const method = textOf(http.method).toLowerCase();
    const operation = operationOf(shape, shapes);
    const item = paths[path] ?? {};
    // Several operations may share an address: those that aren't meant without parameters require them.
    const other = item[method];
    if (other === undefined || requiredIn(operation) < requiredIn(objectOf(other))) item[method] = operation;
    paths[path] = item;
  }
  const schemas = Object.entries(shapes).map(([id, shape]): [string, JsonValue] => [
    id,
    schemaOf(objectOf(shape)),
  ]);
  return { paths, components: { schemas: Object.fromEntries(schemas) } };
}

function operationOf(operation: JsonObject, shapes: JsonObject): JsonObject {
  const parameters: JsonValue[] = [];
  const members: [string, JsonValue][] = [];
  const required: string[] = [];
  let payload: JsonObject | null = null;
  for (const [member, shape] of membersOf(operation.input, shapes)) {
    const traits = traitsOf(shape);
    const isRequired = 'smithy.api#required' in traits;
    const schema = referenceTo(shape.target, shapes);
    const place = placeOf(member, traits);
    if (place !== null) parameters.push({ ...place, required: isRequired, schema });
    else if ('smithy.api#httpPayload' in traits) payload = schema;
    else if (!('smithy.api#httpPrefixHeaders' in traits)) {
      members.push([member, schema]);
      if (isRequired) required.push(member);
    }
  }
  const schema = payload ?? { type: 'object', properties: Object.fromEntries(members), required };
  const hasBody = payload !== null || members.length > 0;
  return {
    parameters,
    ...(hasBody
      ? { requestBody: { content: { [payload === null ? 'application/json' : '*/*']: { schema } } } }
      : {}),
    responses: { '200': { headers: headersOf(operation, shapes), 'x-complete': true } },
  };
}

function requiredIn({ parameters }: JsonObject): number {
  return listOf(parameters).filter((each) => objectOf(each).required === true).length;
}

function placeOf(member: string, traits: JsonObject): JsonObject | null {
  if ('smithy.api#httpLabel' in traits) return { in: 'path', name: member };
  const [query, header] = [traits['smithy.api#httpQuery'], traits['smithy.api#httpHeader']];
  if (typeof query === 'string') return { in: 'query', name: query };
  return typeof header === 'string' ? { in: 'header', name: header } : null;
}

/** Of a response. */
function headersOf(operation: JsonObject, shapes: JsonObject): JsonObject {
  const names = membersOf(operation.output, shapes).flatMap(([, shape]) => {
    const name = traitsOf(shape)['smithy.api#httpHeader'];
    return typeof name === 'string' ? [name.toLowerCase()] : [];
  });
  return Object.fromEntries(names.map((name): [string, JsonValue] => [name, {}]));
}

function schemaOf(shape: JsonObject): JsonObject {
  const scalar = SCALARS[textOf(shape.type)];
  if (scalar !== undefined) return scalar;
  const values = Object.values(objectOf(shape.members)).map(
    (member) => traitsOf(objectOf(member))['smithy.api#enumValue'],
  );
  return shape.type === 'enum' ? { type: 'string', enum: values.map(textOf) } : {};
}

function membersOf(reference: JsonValue | undefined, shapes: JsonObject): [string, JsonObject][] {
  const shape = objectOf(shapes[textOf(objectOf(reference).target)]);
  return Object.entries(objectOf(shape.members)).map(([name, member]) => [name, objectOf(member)]);
}

function referenceTo(target: JsonValue | undefined, shapes: JsonObject): JsonObject {
  const id = textOf(target);
  return id in shapes ? { $ref: `#/components/schemas/${id}` } : {};
}

function traitsOf(shape: JsonObject): JsonObject {
  return objectOf(shape.traits);
}
