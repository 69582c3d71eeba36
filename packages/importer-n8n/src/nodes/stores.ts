import { isJsonObject, type JsonValue } from '@millrace/engine';
import { insideOf, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import { jsonParam } from '../json-text.ts';
import { arrayOf, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';

/** A setting that takes text: a template alone would keep a number's type. */
export function textSetting(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value === null ? '' : JSON.stringify(value);
  const inside = insideOf(value);
  return inside === null ? value : template(`${inside} | string`);
}

/** n8n's Redis node: the same commands, with a credential to be chosen. */
export function redis(step: Step) {
  const operation = step.text('operation', 'info');
  const add = (config: { [name: string]: JsonValue }): string => {
    step.approximate(message('import.choose_credential'));
    return step.add('data.redis', { credential_id: 0, ...config });
  };
  const named = (path: string): { [name: string]: string[] } => ({
    [step.text('propertyName', 'propertyName')]: [path],
  });
  switch (operation) {
    case 'get': {
      const isHash = step.text('keyType', 'automatic') === 'hash';
      const id = add({ operation: isHash ? 'hash_get' : 'get', key: textSetting(step.param('key', '')) });
      return [step.one(`nodes.${id}.output`, named(isHash ? 'fields' : 'value'))];
    }
    case 'set':
      return [step.pass('out', add(setConfig(step)))];
    case 'incr':
      return [
        step.one(`nodes.${add({ operation: 'increment', key: textSetting(step.param('key', '')) })}.output`),
      ];
    case 'delete':
      return [step.pass('out', add({ operation: 'delete', keys: [textSetting(step.param('key', ''))] }))];
    case 'keys': {
      if (step.raw('getValues') !== false)
        throw new Unmappable(message('import.unknown_operation', { operation }));
      const id = add({ operation: 'keys', pattern: textSetting(step.param('keyPattern', '*')) });
      return [step.one(`nodes.${id}.output`)];
    }
    case 'push': {
      const side = step.raw('tail') === true ? 'right' : 'left';
      const values = [step.param('messageData', '')];
      return [
        step.pass(
          'out',
          add({ operation: 'list_push', key: textSetting(step.param('list', '')), side, values }),
        ),
      ];
    }
    case 'pop': {
      const side = step.raw('tail') === true ? 'right' : 'left';
      const id = add({ operation: 'list_pop', key: textSetting(step.param('list', '')), side });
      return [
        step.one(`nodes.${id}.output`, { [step.text('propertyName', 'propertyName')]: ['values', '0'] }),
      ];
    }
    case 'publish': {
      const id = add({
        operation: 'publish',
        key: textSetting(step.param('channel', '')),
        value: step.param('messageData', ''),
      });
      return [step.pass('out', id)];
    }
    default:
      throw new Unmappable(message('import.unknown_operation', { operation }));
  }
}

function setConfig(step: Step): { [name: string]: JsonValue } {
  const key = textSetting(step.param('key', ''));
  const value = step.param('value');
  const kind = step.text('keyType', 'automatic');
  if (kind === 'automatic' || kind === 'string') {
    const ttl = step.raw('expire') === true ? { expires_in_s: Number(step.raw('ttl') ?? 60) || 60 } : {};
    return { operation: 'set', key, value, ...ttl };
  }
  if (kind !== 'hash' || !isJsonObject(value)) {
    throw new Unmappable(message('import.unknown_operation', { operation: `set (${kind})` }));
  }
  return { operation: 'hash_set', key, fields: value };
}

/** n8n's MongoDB node, for the operations that take a query. */
export function mongodb(step: Step) {
  const operation = step.text('operation', 'find');
  const collection = textSetting(step.param('collection', ''));
  const query = (): JsonValue => jsonParam(step, step.raw('query') ?? '{}') ?? {};
  const add = (config: { [name: string]: JsonValue }): string => {
    step.approximate(message('import.choose_credential'));
    return step.add('data.mongodb', { credential_id: 0, collection, ...config });
  };
  switch (operation) {
    case 'find': {
      const sort = step.raw('options.sort');
      const limit = Number(step.raw('options.limit') ?? 0) || 1_000;
      const more = sort === undefined ? {} : { sort: jsonParam(step, sort) ?? {} };
      const id = add({ operation: 'find', filter: query(), limit: Math.min(limit, 10_000), ...more });
      return [step.many(`nodes.${id}.output.documents`)];
    }
    case 'aggregate': {
      const id = add({ operation: 'aggregate', pipeline: query(), limit: 1_000 });
      return [step.many(`nodes.${id}.output.documents`)];
    }
    case 'delete': {
      const id = add({ operation: 'delete', filter: query(), many: true });
      return [step.one(`nodes.${id}.output`)];
    }
    case 'insert':
      return [step.one(`nodes.${add({ operation: 'insert', documents: [fieldsOf(step)] })}.output`)];
    case 'update':
    case 'findOneAndUpdate': {
      const key = step.text('updateKey', 'id').replace(/^=(?!.*\{\{)/, '');
      if (key.startsWith('=')) throw new Unmappable(message('import.name_is_expression', { name: key }));
      const others = fieldsOf(step, key);
      const value = fieldAt(step, key);
      const upsert = step.raw('upsert') === true;
      const id = add({ operation: 'update', filter: { [key]: value }, update: { $set: others }, upsert });
      return [step.one(`nodes.${id}.output`)];
    }
    default:
      throw new Unmappable(message('import.unknown_operation', { operation }));
  }
}

/** The fields that the node names, from the item; computed if an expression names them. @param without a field that is left out */
function fieldsOf(step: Step, without: string | null = null): JsonValue {
  const given = step.raw('fields');
  if (typeof given !== 'string') throw new Unmappable(message('import.not_json', { parameter: 'fields' }));
  if (given.startsWith('=') && given.includes('{{')) {
    const names = `String(${step.source(given)}).split(',').map((name) => name.trim())`;
    const kept = `name !== '' && name !== ${JSON.stringify(without)}`;
    return step.computed(
      `Object.fromEntries(${names}.filter((name) => ${kept}).map((name) => [name, $json[name] ?? null]))`,
    );
  }
  const names = given
    .replace(/^=/, '')
    .split(',')
    .map((name) => name.trim());
  return Object.fromEntries(
    names.filter((name) => name !== '' && name !== without).map((name) => [name, fieldAt(step, name)]),
  );
}

function fieldAt(step: Step, name: string): JsonValue {
  return step.value(`={{ $json[${JSON.stringify(name)}] }}`);
}

/** n8n's Kafka node, which sends the item or a text. */
export function kafka(step: Step) {
  if (step.raw('useSchemaRegistry') === true)
    throw new Unmappable(message('import.unknown_operation', { operation: 'useSchemaRegistry' }));
  const listed = arrayOf(step.raw('headersUi.headerValues')).map(objectOf);
  const headers =
    step.raw('jsonParameters') === true
      ? (jsonParam(step, step.raw('headerParametersJson') ?? '{}') ?? {})
      : Object.fromEntries(
          listed.flatMap(({ key, value }) => {
            const name = textOf(key) ?? '';
            return name === '' || name === '__proto__' ? [] : [[name, step.value(value ?? '')]];
          }),
        );
  step.approximate(message('import.choose_credential'));
  const id = step.add('data.kafka', {
    credential_id: 0,
    topic: textSetting(step.param('topic', '')),
    // A list would be several messages.
    messages: [step.raw('sendInputData') === false ? textSetting(step.param('message', '')) : step.item()],
    ...(step.raw('useKey') === true ? { key: textSetting(step.param('key', '')) } : {}),
    ...(isJsonObject(headers) && Object.keys(headers).length > 0 ? { headers } : {}),
  });
  return [step.one(`nodes.${id}.output`)];
}
