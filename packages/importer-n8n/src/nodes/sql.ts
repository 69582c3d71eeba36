import { isJsonObject, type JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { arrayOf, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { columnsAt } from './service-values.ts';
import { namedParameters, numberedBy, onlyReads, statementOf } from './sql-statement.ts';

/** n8n's nodes for PostgreSQL and MySQL: a statement, or one made of the table and columns that the node names. */
export function sql(step: Step): readonly Out[] {
  const operation = step.text('operation', step.node.version >= 2 ? 'insert' : 'executeQuery');
  if (operation === 'select') return selectRows(step);
  if (operation === 'insert' || operation === 'upsert') return insertRow(step, operation === 'upsert');
  if (operation === 'update') return updateRows(step);
  if (operation === 'deleteTable') return deleteRows(step);
  if (operation !== 'executeQuery') throw new Unmappable(message('import.unknown_operation', { operation }));
  step.approximate(message('import.choose_credential'));
  const query = step.text('query');
  const given = namedParameters(
    step,
    step.raw('options.queryReplacement') ??
      step.raw('options.queryParameters') ??
      step.raw('options.queryParams'),
    query,
  );
  const { text, parameters } = statementOf(step, query, given);
  const id = step.add('sql.query', {
    credential_id: 0,
    query: text,
    parameters,
    read_only: onlyReads(text, step.node.kind),
  });
  return [step.many(`nodes.${id}.output.rows`)];
}

/** n8n's node for Microsoft SQL, which writes the item's fields that it names, and passes the item on. */
export function sqlServer(step: Step): readonly Out[] {
  const fields = (names: readonly string[]): readonly (readonly [string, JsonValue])[] =>
    names.map((name) => [name, step.expression(`$json[${JSON.stringify(name)}]`)]);
  const named = () =>
    step
      .text('columns')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
  switch (step.text('operation', 'insert')) {
    case 'insert':
      return [step.pass('out', writes(step, insertion(step, fields(named()))))];
    case 'update': {
      const key = step.text('updateKey', 'id');
      const changed = fields(named().filter((name) => name !== key));
      return [step.pass('out', writes(step, updating(step, changed, fields([key]))))];
    }
    case 'delete':
      return [
        step.pass(
          'out',
          writes(step, deletion(step, equalities(step, fields([step.text('deleteKey', 'id')])))),
        ),
      ];
    default:
      return sql(step);
  }
}

/** A statement that changes something, and its parameters. */
interface Change {
  readonly query: string;
  readonly parameters: readonly JsonValue[];
}

type Fields = readonly (readonly [name: string, value: JsonValue])[];

function writes(step: Step, { query, parameters }: Change): string {
  step.approximate(message('import.choose_credential'));
  return step.add('sql.query', { credential_id: 0, query, parameters: [...parameters], read_only: false });
}

function insertion(step: Step, fields: Fields): Change {
  if (fields.length === 0) throw new Unmappable(message('import.no_columns'));
  const columns = fields.map(([name]) => quoted(step, name));
  const places = fields.map((_, index) => placeOf(step, index + 1));
  return {
    query: ['INSERT INTO', tableOf(step), listed(columns), 'VALUES', listed(places)].join(' '),
    parameters: fields.map(([, value]) => value),
  };
}

function updating(step: Step, changed: Fields, where: Fields): Change {
  if (changed.length === 0 || where.length === 0) throw new Unmappable(message('import.no_columns'));
  const set = changed.map(([name], index) => `${quoted(step, name)} = ${placeOf(step, index + 1)}`);
  const found = equalities(step, where, changed.length);
  return {
    query: ['UPDATE', tableOf(step), 'SET', set.join(', '), found.query].join(' '),
    parameters: [...changed.map(([, value]) => value), ...found.parameters],
  };
}

function deletion(step: Step, { query, parameters }: Change): Change {
  return { query: ['DELETE FROM', tableOf(step), ...(query === '' ? [] : [query])].join(' '), parameters };
}

function equalities(step: Step, fields: Fields, before = 0): Change {
  const parts = fields.map(([name], index) => `${quoted(step, name)} = ${placeOf(step, before + index + 1)}`);
  return { query: `WHERE ${parts.join(' AND ')}`, parameters: fields.map(([, value]) => value) };
}

/** A name that can be part of a statement as it is. */
const SQL_NAME = /^[A-Za-z_][\w$]*$/;

function quoted(step: Step, name: JsonValue): string {
  if (typeof name !== 'string' || !SQL_NAME.test(name))
    throw new Unmappable(message('import.sql_with_expression'));
  if (step.node.kind === 'microsoftSql') return `[${name}]`;
  return step.node.kind === 'postgres' ? `"${name}"` : `\`${name}\``;
}

function tableOf(step: Step): string {
  if (step.node.kind === 'microsoftSql') {
    const parts = textOf(step.chosen('table'))?.split('.') ?? [''];
    return parts.map((part) => quoted(step, part)).join('.');
  }
  const table = quoted(step, step.chosen('table'));
  return step.node.kind === 'postgres'
    ? `${quoted(step, step.chosen('schema') ?? 'public')}.${table}`
    : table;
}

/** The place of a parameter, counted from 1. */
function placeOf(step: Step, number: number): string {
  const sign = numberedBy(step.node.kind);
  return sign === null ? '?' : `${sign}${number}`;
}

const COMPARISONS: { readonly [condition: string]: string } = {
  equal: '=',
  '!=': '<>',
  LIKE: 'LIKE',
  '>': '>',
  '<': '<',
  '>=': '>=',
  '<=': '<=',
};

function selectRows(step: Step): readonly Out[] {
  const { query: where, parameters } = conditionsOf(step);
  const limit =
    step.raw('returnAll') === true ? [] : ['LIMIT', String(Number(step.raw('limit') ?? 50) || 50)];
  step.approximate(message('import.choose_credential'));
  const id = step.add('sql.query', {
    credential_id: 0,
    query: ['SELECT * FROM', tableOf(step), ...(where === '' ? [] : [where]), ...limit].join(' '),
    parameters: [...parameters],
  });
  return [step.many(`nodes.${id}.output.rows`)];
}

/** Which rows the node names by its conditions; empty: all. */
function conditionsOf(step: Step): Change {
  const conditions = arrayOf(step.raw('where.values')).map(objectOf);
  let count = 0;
  const parts = conditions.map((each) => {
    const condition = textOf(each.condition) ?? 'equal';
    const column = quoted(step, each.column ?? null);
    if (condition === 'IS NULL' || condition === 'IS NOT NULL') return `${column} ${condition}`;
    const operator = Object.hasOwn(COMPARISONS, condition) ? COMPARISONS[condition] : undefined;
    if (operator === undefined)
      throw new Unmappable(message('import.unknown_operator', { operator: condition }));
    count += 1;
    return `${column} ${operator} ${placeOf(step, count)}`;
  });
  const joined = parts.join(step.text('combineConditions', 'AND') === 'OR' ? ' OR ' : ' AND ');
  return {
    query: joined === '' ? '' : `WHERE ${joined}`,
    parameters: conditions
      .filter(({ condition }) => !(textOf(condition) ?? '').startsWith('IS '))
      .map(({ value }) => step.value(value ?? null)),
  };
}

/**
 * The row that the node writes. What it takes from the item as it is has names that only the item knows.
 * @throws Unmappable
 */
function rowOf(step: Step): Fields {
  const listing = arrayOf(step.raw('valuesToSend.values')).map(objectOf);
  if (listing.length > 0) {
    return listing.map(({ column, value }) => [textOf(column) ?? '', step.value(value ?? null)]);
  }
  // Before version 2, PostgreSQL's node named columns of the item as n8n's node for Microsoft SQL does.
  const names = step.raw('columns');
  if (typeof names === 'string' && names !== '' && !names.startsWith('=')) {
    return names.split(',').map((name) => {
      const column = name.trim();
      return [column, step.expression(`$json[${JSON.stringify(column)}]`)];
    });
  }
  const row = step.raw('columns') === undefined ? null : columnsAt(step, 'columns');
  if (!isJsonObject(row) || Object.keys(row).length === 0) throw new Unmappable(message('import.no_columns'));
  return Object.entries(row).map(([name, value]) => [name, value ?? null]);
}

/** The columns that tell rows apart. */
function keysOf(step: Step): readonly string[] {
  const named = arrayOf(step.raw('columns.matchingColumns')).flatMap((each) => textOf(each) ?? []);
  if (named.length > 0) return named;
  const single =
    textOf(step.raw('columnToMatchOn.value')) ??
    textOf(step.raw('columnToMatchOn')) ??
    textOf(step.raw('updateKey'));
  const keys = (single ?? '').split(',').map((name) => name.trim());
  return keys.filter((name) => name !== '');
}

function changed(step: Step, change: Change): readonly Out[] {
  const isPostgresql = step.node.kind === 'postgres';
  const id = writes(step, isPostgresql ? { ...change, query: `${change.query} RETURNING *` } : change);
  return [isPostgresql ? step.many(`nodes.${id}.output.rows`) : step.one(`nodes.${id}.output`)];
}

function insertRow(step: Step, isUpsert: boolean): readonly Out[] {
  const row = rowOf(step);
  const keys = isUpsert ? keysOf(step) : [];
  const matched = textOf(step.raw('valueToMatchOn'));
  const fields: Fields =
    matched !== null && isUpsert && keys.length === 1 && !row.some(([name]) => name === keys[0])
      ? [[keys[0] ?? '', step.value(matched)], ...row]
      : row;
  const { query, parameters } = insertion(step, fields);
  if (isUpsert && keys.length === 0) throw new Unmappable(message('import.no_matching_column'));
  const skips = step.raw('options.skipOnConflict') === true;
  return changed(step, {
    query: `${query}${isUpsert || skips ? conflict(step, fields, keys) : ''}`,
    parameters,
  });
}

/** What happens to a row that is there already. Without keys, it stays as it is. */
function conflict(step: Step, fields: Fields, keys: readonly string[]): string {
  const columns = fields.map(([name]) => name).filter((name) => !keys.includes(name));
  if (step.node.kind === 'postgres') {
    if (keys.length === 0) return ' ON CONFLICT DO NOTHING';
    const set = columns.map((name) => `${quoted(step, name)} = EXCLUDED.${quoted(step, name)}`).join(', ');
    const target = listed(keys.map((name) => quoted(step, name)));
    return ` ON CONFLICT ${target} ${set === '' ? 'DO NOTHING' : `DO UPDATE SET ${set}`}`;
  }
  const [first = fields[0]?.[0] ?? ''] = columns.length === 0 || keys.length === 0 ? keys : columns;
  const updated = columns.length === 0 || keys.length === 0 ? null : columns;
  const set = (updated ?? [first]).map((name) =>
    updated === null
      ? `${quoted(step, name)} = ${quoted(step, name)}`
      : `${quoted(step, name)} = VALUES(${quoted(step, name)})`,
  );
  return ` ON DUPLICATE KEY UPDATE ${set.join(', ')}`;
}

function updateRows(step: Step): readonly Out[] {
  const row = rowOf(step);
  const keys = keysOf(step);
  if (keys.length === 0) throw new Unmappable(message('import.no_matching_column'));
  const matched = step.raw('valueToMatchOn');
  const where = keys.map((key): readonly [string, JsonValue] => {
    const own = row.find(([name]) => name === key);
    if (own === undefined && matched === undefined)
      throw new Unmappable(message('import.no_matching_column'));
    return own ?? [key, step.value(matched ?? null)];
  });
  return changed(
    step,
    updating(
      step,
      row.filter(([name]) => !keys.includes(name)),
      where,
    ),
  );
}

function deleteRows(step: Step): readonly Out[] {
  const command = step.text('deleteCommand', 'truncate');
  if (command === 'delete')
    return [step.one(`nodes.${writes(step, deletion(step, conditionsOf(step)))}.output`)];
  if (command !== 'truncate' && command !== 'drop')
    throw new Unmappable(message('import.unknown_operation', { operation: command }));
  const more = step.node.kind === 'postgres' && step.raw('options.cascade') === true ? ' CASCADE' : '';
  const restart = command === 'truncate' && step.raw('restartSequences') === true ? ' RESTART IDENTITY' : '';
  const query = `${command === 'drop' ? 'DROP TABLE IF EXISTS' : 'TRUNCATE TABLE'} ${tableOf(step)}${restart}${more}`;
  return [step.one(`nodes.${writes(step, { query, parameters: [] })}.output`)];
}

function listed(parts: readonly string[]): string {
  return `(${parts.join(', ')})`;
}
