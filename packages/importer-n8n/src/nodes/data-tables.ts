import type { JsonValue } from '@millrace/engine';
import { extend, literal, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { arrayOf, asText, objectOf, textOf } from '../read.ts';
import { Step, Unmappable } from '../step.ts';
import { columnsAt } from './service-values.ts';

/** As many rows of a table are read. */
const MAX_ROWS = 1_000;

/** Which rows conditions find, as n8n compares them. A missing value is null. */
const MATCHES = `const num = (value) => typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
const like = (value, given, flags) => new RegExp('^' + String(given).replace(/[^\\w%]/g, '\\\\$&').replaceAll('%', '[^]*') + '$', flags).test(String(value ?? ''));
const tests = {
  eq: (value, given) => String(value ?? '') === String(given ?? ''), neq: (value, given) => String(value ?? '') !== String(given ?? ''),
  like: (value, given) => like(value, given, ''), ilike: (value, given) => like(value, given, 'i'),
  gt: (value, given) => value != null && num(value) > num(given), gte: (value, given) => value != null && num(value) >= num(given),
  lt: (value, given) => value != null && num(value) < num(given), lte: (value, given) => value != null && num(value) <= num(given),
  isEmpty: (value) => value == null || value === '', isNotEmpty: (value) => value != null && value !== '',
  isTrue: (value) => value === true, isFalse: (value) => value === false,
};
const { conditions, every } = input;
const fits = ({ name, test, value }, row) => tests[test](row[name], value);
const matches = (row) => conditions.length === 0 || (every ? conditions.every((each) => fits(each, row)) : conditions.some((each) => fits(each, row)));
const found = input.entries.map(({ value }) => value).filter(matches).sort((left, right) => left.id - right.id);`;

const TESTS = new Set('eq neq like ilike gt gte lt lte isEmpty isNotEmpty isTrue isFalse'.split(' '));

/** n8n's data tables: each row is an entry of the data store, under the name of its table. */
export function dataTable(step: Step): readonly Out[] {
  const operation = step.text('operation', 'insert');
  // A table is the entries that have its name: nothing has to be made for it.
  if (step.text('resource', 'row') === 'table' && operation === 'create') {
    step.approximate(message('import.own_table', { max: MAX_ROWS }));
    const name = step.param('tableName', '');
    const made = step.add('core.set', { values: { id: name, name } });
    return [step.one(`nodes.${made}.output`)];
  }
  if (step.text('resource', 'row') !== 'row')
    throw new Unmappable(
      message('import.unknown_operation', { operation: `${step.text('resource')}.${operation}` }),
    );
  step.approximate(message('import.own_table', { max: MAX_ROWS }));
  switch (operation) {
    case 'insert': {
      const row = columnsAt(step, 'columns');
      return written(
        step,
        `const now = new Date().toISOString();\nreturn [{ ...input.row, id: input.id, createdAt: now, updatedAt: now }];`,
        { row, id: newId(step) },
      );
    }
    case 'get': {
      const limit = step.raw('returnAll') === true ? MAX_ROWS : (step.raw('limit') ?? 50);
      const id = search(step, 'return found.slice(0, input.limit);', { limit: step.value(limit) }, 'rows');
      return [step.many(`nodes.${id}.output.result`)];
    }
    case 'update': {
      const changes = columnsAt(step, 'columns');
      return written(
        step,
        `${MATCHES}\nreturn found.map((row) => ({ ...row, ...input.changes, id: row.id, updatedAt: new Date().toISOString() }));`,
        {
          ...searched(step),
          changes,
        },
      );
    }
    case 'upsert': {
      const changes = columnsAt(step, 'columns');
      const search = searched(step);
      return written(
        step,
        `${MATCHES}\nconst now = new Date().toISOString();\nif (found.length === 0) return [{ ...input.changes, id: input.id, createdAt: now, updatedAt: now }];\nreturn found.map((row) => ({ ...row, ...input.changes, id: row.id, updatedAt: now }));`,
        { ...search, changes, id: newId(step) },
      );
    }
    case 'deleteRows':
      return deleted(step);
    case 'rowExists':
    case 'rowNotExists': {
      const id = search(step, 'return found.length > 0;', {}, 'found');
      const wants = operation === 'rowExists';
      const condition = {
        left: template(`nodes.${id}.output.result`),
        operator: wants ? 'is_true' : 'is_false',
      };
      return [step.pass('true', step.add('core.if', { conditions: [condition] }))];
    }
    default:
      throw new Unmappable(message('import.unknown_operation', { operation }));
  }
}

/** What all entries of a table begin with. */
function tableKey(step: Step): string {
  const given = objectOf(step.raw('dataTableId'));
  const name = textOf(given.cachedResultName);
  return `table/${name === null ? asText(step.chosen('dataTableId') ?? '') : literal(name)}`;
}

/** The id of a new row, from a counter, so that two executions never take the same. */
function newId(step: Step): string {
  const id = step.add(
    'data.store',
    { operation: 'increment', key: `${tableKey(step)}/id` },
    { suffix: 'id' },
  );
  return template(`nodes.${id}.output.value`);
}

/** The rows, and the conditions that they are compared with. */
function searched(step: Step): { [name: string]: JsonValue } {
  const conditions = arrayOf(step.raw('filters.conditions')).map((each) => {
    const { keyName, condition, keyValue } = objectOf(each);
    const test = (textOf(condition) ?? 'eq').replace(/^=/, '');
    if (!TESTS.has(test)) throw new Unmappable(message('import.unknown_operator', { operator: test }));
    return { name: step.value(keyName ?? 'id'), test, value: step.value(keyValue ?? null) };
  });
  const prefix = `${tableKey(step)}/row/`;
  const id = step.add('data.store', { operation: 'list', prefix, limit: MAX_ROWS }, { suffix: 'table' });
  return {
    entries: template(`nodes.${id}.output.entries`),
    conditions,
    every: step.text('matchType', 'anyCondition') === 'allConditions',
  };
}

function search(step: Step, ends: string, more: { [name: string]: JsonValue }, suffix: string): string {
  const input = { ...searched(step), ...more };
  return step.add('core.code', { code: `${MATCHES}\n${ends}`, input }, { suffix });
}

/** Writes the rows that code makes, each as an entry of its own. */
function written(step: Step, code: string, input: { [name: string]: JsonValue }): readonly Out[] {
  return forEachRow(step, code, input, (inner) =>
    inner.add('data.store', {
      operation: 'set',
      key: `${tableKey(step)}/row/{{item.id}}`,
      value: '{{item}}',
    }),
  );
}

function deleted(step: Step): readonly Out[] {
  return forEachRow(step, `${MATCHES}\nreturn found;`, searched(step), (inner) =>
    inner.add('data.store', { operation: 'delete', key: `${tableKey(step)}/row/{{item.id}}` }),
  );
}

/** The items are the rows, as in n8n. */
function forEachRow(
  step: Step,
  code: string,
  input: { [name: string]: JsonValue },
  run: (inner: Step) => string,
): readonly Out[] {
  const id = step.add('core.code', { code, input }, { suffix: 'rows' });
  const rows = step.many(extend(`nodes.${id}.output`, ['result']));
  const { compiler, node, extras } = step;
  const scope = compiler.openLoop(node, { ref: rows.ref, exits: [rows.exit] });
  const item = { kind: 'one' as const, path: 'item', scope, owner: null };
  const inner = new Step(compiler, node, { scope, input: item, after: [], extras });
  const main = run(inner);
  step.mainId = main;
  return [inner.pass('out', main)];
}
