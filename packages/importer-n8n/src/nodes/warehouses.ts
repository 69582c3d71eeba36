import type { JsonValue } from '@millrace/engine';
import { inUrl, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { arrayOf, asText, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { AUTH } from './parts.ts';

/** Rows of BigQuery's API as objects: a row is a list of values, whose names are in the schema. */
const BIGQUERY_ROWS = `const value = (field, given) => {
  if (given == null) return null;
  if (field.mode === 'REPEATED') return given.map((each) => value({ ...field, mode: '' }, each.v));
  return field.type === 'RECORD' || field.type === 'STRUCT' ? row(field.fields, given) : given;
};
const row = (fields, given) => Object.fromEntries(fields.map((field, at) => [field.name, value(field, given.f[at].v)]));
const { schema, rows = [] } = input.response;
return rows.map((each) => row(schema.fields, each));`;

/** Rows of Snowflake's API as objects; numbers are texts there. */
const SNOWFLAKE_ROWS = `const { resultSetMetaData: { rowType = [] } = {}, data = [] } = input.response;
const value = (type, given) => {
  if (given === null) return null;
  if (['fixed', 'real'].includes(type) && Number.isFinite(Number(given)) && !/^-?\\d{16,}/.test(given)) return Number(given);
  if (type === 'boolean') return given === 'true';
  return ['variant', 'object', 'array'].includes(type) ? JSON.parse(given) : given;
};
return data.map((each) => Object.fromEntries(rowType.map(({ name, type }, at) => [name, value(type, each[at])])));`;

/** n8n's node for BigQuery: a query, or a row that is inserted. */
export function bigQuery(step: Step): readonly Out[] {
  const operation = step.text('operation', step.node.version >= 2 ? 'executeQuery' : 'create');
  step.approximate(message('import.choose_credential'));
  const project = `https://bigquery.googleapis.com/bigquery/v2/projects/${inUrl(asText(step.chosen('projectId')))}`;
  if (operation === 'executeQuery') {
    step.approximate(message('import.rows_of_first_answer'));
    const body = {
      query: asText(step.param('sqlQuery', '')),
      useLegacySql: step.raw('options.useLegacySql') === true,
      timeoutMs: 60_000,
      ...optional(step, 'location'),
      ...optional(step, 'maxResults'),
      ...optional(step, 'maximumBytesBilled'),
    };
    return rowsOf(step, { url: `${project}/queries`, body }, BIGQUERY_ROWS);
  }
  if (operation !== 'insert' && operation !== 'create')
    throw new Unmappable(message('import.unknown_operation', { operation }));
  const [dataset, table] = ['datasetId', 'tableId'].map((name) => inUrl(asText(step.chosen(name))));
  const id = step.add('http.request', {
    method: 'POST',
    url: `${project}/datasets/${dataset}/tables/${table}/insertAll`,
    auth: AUTH,
    body: {
      rows: [{ json: insertedRow(step) }],
      ...optional(step, 'ignoreUnknownValues'),
      ...optional(step, 'skipInvalidRows'),
    },
  });
  return [step.one(`nodes.${id}.output.body`)];
}

function insertedRow(step: Step): JsonValue {
  if (step.node.version < 2)
    return Object.fromEntries(columnsOf(step).map((name) => [name, fieldOf(step, name)]));
  if (step.text('dataMode', 'autoMap') === 'autoMap') return step.item();
  return Object.fromEntries(
    arrayOf(step.raw('fieldsUi.values'))
      .map(objectOf)
      .map(({ fieldId, fieldValue = '' }) => [textOf(fieldId) ?? '', step.value(fieldValue)]),
  );
}

/** n8n's node for Snowflake, by its SQL API, which takes no passwords. */
export function snowflake(step: Step): readonly Out[] {
  const operation = step.text('operation', 'insert');
  step.approximate(message('import.snowflake_token'));
  step.approximate(message('import.rows_of_first_answer'));
  const { statement, values } = snowflakeStatement(step, operation);
  const bindings = values.map((value, at): [string, JsonValue] => [`${at + 1}`, { type: 'TEXT', value }]);
  const body = {
    statement,
    timeout: 60,
    database: constant(step, 'database'),
    schema: constant(step, 'schema'),
    warehouse: constant(step, 'warehouse'),
    ...(bindings.length === 0 ? {} : { bindings: Object.fromEntries(bindings) }),
  };
  const url = `https://${constant(step, 'account')}.snowflakecomputing.com/api/v2/statements`;
  if (operation === 'executeQuery') return rowsOf(step, { url, body }, SNOWFLAKE_ROWS);
  const id = step.add('http.request', { method: 'POST', url, auth: AUTH, body });
  return [step.pass('out', id)];
}

/** A name that can be part of a statement as it is. */
const SQL_NAME = /^[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*){0,2}$/;

function snowflakeStatement(
  step: Step,
  operation: string,
): { readonly statement: string; readonly values: readonly JsonValue[] } {
  if (operation === 'executeQuery') return { statement: asText(step.param('query', '')), values: [] };
  const table = nameIn(step.text('table'));
  const columns = columnsOf(step).map(nameIn);
  if (columns.length === 0) throw new Unmappable(message('import.no_columns'));
  if (operation === 'insert') {
    const places = columns.map(() => '?').join(', ');
    return {
      statement: ['INSERT INTO', table, `(${columns.join(', ')})`, 'VALUES', `(${places})`].join(' '),
      values: columns.map((name) => textField(step, name)),
    };
  }
  if (operation !== 'update') throw new Unmappable(message('import.unknown_operation', { operation }));
  const key = nameIn(step.text('updateKey', 'id'));
  const set = columns.filter((name) => name !== key);
  return {
    statement: ['UPDATE', table, 'SET', set.map((name) => `${name} = ?`).join(', '), `WHERE ${key} = ?`].join(
      ' ',
    ),
    values: [...set, key].map((name) => textField(step, name)),
  };
}

function nameIn(name: string): string {
  if (!SQL_NAME.test(name)) throw new Unmappable(message('import.sql_with_expression'));
  return name;
}

/** Bound values are texts, or null. */
function textField(step: Step, name: string): JsonValue {
  return step.computed(
    `((value) => value == null ? null : typeof value === "object" ? JSON.stringify(value) : String(value))($json[${JSON.stringify(name)}])`,
  );
}

function columnsOf(step: Step): readonly string[] {
  return step
    .text('columns')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function fieldOf(step: Step, name: string): JsonValue {
  return step.expression(`$json[${JSON.stringify(name)}]`);
}

function optional(step: Step, name: string): { readonly [name: string]: JsonValue } {
  const value = step.raw(`options.${name}`);
  return value === undefined || value === '' ? {} : { [name]: step.value(value) };
}

/** What belongs to the credential in n8n, and isn't secret. */
function constant(step: Step, name: string): string {
  const variable = `snowflake_${name}`;
  step.compiler.variables.add(variable);
  step.approximate(message('import.set_constant', { name: variable }));
  return template(`vars.${variable}`);
}

function rowsOf(
  step: Step,
  { url, body }: { readonly url: string; readonly body: { readonly [name: string]: JsonValue } },
  code: string,
): readonly Out[] {
  const id = step.add('http.request', { method: 'POST', url, auth: AUTH, body, timeout_ms: 90_000 });
  const response = template(`nodes.${id}.output.body`);
  const rows = step.add('core.code', { code, input: { response } }, { suffix: 'rows' });
  return [step.many(`nodes.${rows}.output.result`)];
}
