import { isJsonObject, type JsonValue, setOwn } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import { responseHeaderFault } from '@millrace/triggers';
import { forItem, forList, type Handlers } from '../handler.ts';
import { jsonParam } from '../json-text.ts';
import { arrayOf, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { askPerson } from './approvals.ts';
import { telegramFile, uploadToDrive } from './files.ts';
import { callService } from './service-call.ts';
import { columnsAt } from './service-values.ts';
import { SERVICES } from './services.ts';
import { googleSheets } from './sheets.ts';
import { namedParameters, numberedBy, onlyReads, statementOf } from './sql-statement.ts';
import { mongodb, redis, textSetting } from './stores.ts';

/** Nodes that reach other systems. */
export const OUTSIDE: Handlers = {
  ...Object.fromEntries(Object.keys(SERVICES).map((kind) => [kind, forItem(callOrAsk)])),
  telegram: forItem((step) =>
    step.text('resource', 'message') === 'file' ? telegramFile(step) : callOrAsk(step),
  ),
  googleSheets: forItem(googleSheets),
  googleDrive: forItem((step) => (isDriveUpload(step) ? uploadToDrive(step) : callService(step))),
  emailSend: forItem(email),
  postgres: forItem((step) => sql(step)),
  mySql: forItem((step) => sql(step)),
  microsoftSql: forItem((step) => sqlServer(step)),
  respondToWebhook: forList(respond, { collects: true }),
  redis: forItem(redis),
  mongoDb: forItem(mongodb),
};

/** A call of a service; with some, a person can be asked, too. */
function callOrAsk(step: Step) {
  return step.text('operation') === 'sendAndWait' ? askPerson(step) : callService(step);
}

function isDriveUpload(step: Step): boolean {
  const isFile = step.text('resource', 'file') === 'file';
  return isFile && /^(?:upload|createFromText)$/.test(step.text('operation', 'upload'));
}

function email(step: Step) {
  if (step.text('operation') === 'sendAndWait') return askPerson(step);
  step.approximate(message('import.choose_credential'));
  const attached = textOf(step.raw('attachments') ?? step.raw('options.attachments'));
  const names = attached === null ? [] : attached.split(',').map((name) => name.trim());
  const format = step.text('emailFormat', step.node.version >= 2 ? 'html' : 'text');
  const text = step.raw('text');
  const html = step.raw('html');
  const id = step.add('email.send', {
    credential_id: 0,
    from: step.param('fromEmail', ''),
    to: step.param('toEmail', ''),
    subject: textSetting(step.param('subject', '')),
    ...(text !== undefined && format !== 'html' ? { text: textSetting(step.value(text)) } : {}),
    ...(html !== undefined && format !== 'text' ? { html: textSetting(step.value(html)) } : {}),
    ...(step.raw('options.ccEmail') === undefined ? {} : { cc: step.param('options.ccEmail') }),
    ...(names.length === 0 ? {} : { files: names.map((name) => template(step.file(name))) }),
    ...(step.raw('options.bccEmail') === undefined ? {} : { bcc: step.param('options.bccEmail') }),
  });
  return [step.one(`nodes.${id}.output`)];
}

function sql(step: Step) {
  const operation = step.text('operation', step.node.version >= 2 ? 'insert' : 'executeQuery');
  if (operation === 'select') return selectRows(step);
  if (operation === 'insert' && step.raw('columns.value') !== undefined) return insertRow(step);
  if (operation !== 'executeQuery') throw new Unmappable(message('import.unknown_operation', { operation }));
  step.approximate(message('import.choose_credential'));
  const query = step.text('query');
  const given = namedParameters(step, step.raw('options.queryReplacement'), query);
  const { text, parameters } = statementOf(step, query, given);
  const id = step.add('sql.query', {
    credential_id: 0,
    query: text,
    parameters,
    read_only: onlyReads(text, step.node.kind),
  });
  return [step.many(`nodes.${id}.output.rows`)];
}

function sqlServer(step: Step) {
  return step.text('operation', 'insert') === 'insert' ? insertItem(step) : sql(step);
}

/** A row of the item's fields that the node names. */
function insertItem(step: Step) {
  const names = step
    .text('columns')
    .split(',')
    .map((name) => name.trim());
  const table = textOf(step.chosen('table'))
    ?.split('.')
    .map((part) => quoted(step, part))
    .join('.');
  const columns = names.map((name) => quoted(step, name));
  const places = names.map((_, index) => placeOf(step, index + 1));
  step.approximate(message('import.choose_credential'));
  const id = step.add('sql.query', {
    credential_id: 0,
    query: ['INSERT INTO', table ?? quoted(step, null), listed(columns), 'VALUES', listed(places)].join(' '),
    parameters: names.map((name) => step.expression(`$json["${name}"]`)),
    read_only: false,
  });
  return [step.pass('out', id)];
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

function selectRows(step: Step) {
  const conditions = arrayOf(step.raw('where.values')).map(objectOf);
  const parts = conditions.map((each, index) => {
    const condition = textOf(each.condition) ?? 'equal';
    const operator = Object.hasOwn(COMPARISONS, condition) ? COMPARISONS[condition] : undefined;
    if (operator === undefined)
      throw new Unmappable(message('import.unknown_operator', { operator: condition }));
    return `${quoted(step, each.column ?? null)} ${operator} ${placeOf(step, index + 1)}`;
  });
  const joined = parts.join(step.text('combineConditions', 'AND') === 'OR' ? ' OR ' : ' AND ');
  const where = joined === '' ? [] : ['WHERE', joined];
  const limit =
    step.raw('returnAll') === true ? [] : ['LIMIT', String(Number(step.raw('limit') ?? 50) || 50)];
  step.approximate(message('import.choose_credential'));
  const id = step.add('sql.query', {
    credential_id: 0,
    query: ['SELECT * FROM', tableOf(step), ...where, ...limit].join(' '),
    parameters: conditions.map(({ value }) => step.value(value ?? null)),
  });
  return [step.many(`nodes.${id}.output.rows`)];
}

function insertRow(step: Step) {
  const row = columnsAt(step, 'columns');
  if (!isJsonObject(row)) throw new Unmappable(message('import.sql_with_expression'));
  const names = Object.keys(row);
  const places = names.map((_, index) => placeOf(step, index + 1));
  const columns = names.map((name) => quoted(step, name));
  const returning = step.node.kind === 'postgres' ? ['RETURNING *'] : [];
  step.approximate(message('import.choose_credential'));
  const id = step.add('sql.query', {
    credential_id: 0,
    query: ['INSERT INTO', tableOf(step), listed(columns), 'VALUES', listed(places), ...returning].join(' '),
    parameters: Object.values(row).map((value) => value ?? null),
    read_only: false,
  });
  return [returning.length === 0 ? step.one(`nodes.${id}.output`) : step.many(`nodes.${id}.output.rows`)];
}

function listed(parts: readonly string[]): string {
  return `(${parts.join(', ')})`;
}

/** n8n sends text as HTML unless its headers say otherwise. */
function respond(step: Step) {
  const how = step.text('respondWith', 'firstIncomingItem');
  const isRedirect = how === 'redirect';
  const status = Number(step.raw('options.responseCode') ?? (isRedirect ? 307 : 200));
  const isKnown = Number.isInteger(status) && status >= 200 && status <= 599;
  const headers = responseHeaders(step);
  if (isRedirect) headers.Location = textSetting(step.param('redirectURL', ''));
  const id = step.add('webhook.respond', {
    format: how === 'text' ? 'html' : 'json',
    status: isKnown ? status : 200,
    body: isRedirect ? null : responseBody(step, how),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  });
  return [step.pass('out', id)];
}

function responseHeaders(step: Step): { [name: string]: JsonValue } {
  const headers: { [name: string]: JsonValue } = {};
  const entries = arrayOf(step.raw('options.responseHeaders.entries'));
  for (const [index, entry] of entries.entries()) {
    const name = textOf(objectOf(entry).name) ?? '';
    if (responseHeaderFault(name) === null)
      setOwn(headers, name, textSetting(step.param(`options.responseHeaders.entries.${index}.value`, '')));
    else step.approximate(message('import.response_header', { name }));
  }
  return headers;
}

function responseBody(step: Step, how: string): JsonValue {
  const item = step.item();
  switch (how) {
    case 'json':
      return jsonParam(step, step.raw('responseBody')) ?? step.param('responseBody');
    case 'text':
      return step.param('responseBody', '');
    case 'noData':
      return null;
    case 'allIncomingItems':
      return step.inputs[0] == null ? [] : step.compiler.listIn(step.inputs[0], step.scope);
    case 'firstIncomingItem':
      return item;
    default:
      throw new Unmappable(message('import.unknown_operation', { operation: how }));
  }
}
