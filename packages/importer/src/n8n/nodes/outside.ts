import { isJsonObject, type JsonValue, setOwn } from '@millrace/engine';
import { message } from '@millrace/messages';
import { responseHeaderFault } from '@millrace/triggers';
import { insideOf, template } from '../../refs.ts';
import { forItem, forList, type Handlers } from '../handler.ts';
import { jsonParam } from '../json-text.ts';
import { arrayOf, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { callService } from './service-call.ts';
import { columnsAt } from './service-values.ts';
import { SERVICES } from './services.ts';
import { googleSheets } from './sheets.ts';

/** Nodes that reach other systems. */
export const OUTSIDE: Handlers = {
  ...Object.fromEntries(Object.keys(SERVICES).map((kind) => [kind, forItem(callService)])),
  googleSheets: forItem(googleSheets),
  emailSend: forItem(email),
  postgres: forItem((step) => sql(step)),
  mySql: forItem((step) => sql(step)),
  respondToWebhook: forList(respond, { collects: true }),
  redis: forItem(keyValue),
};

/** A setting that takes text: a template alone would keep a number's type. */
function textSetting(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value === null ? '' : JSON.stringify(value);
  const inside = insideOf(value);
  return inside === null ? value : template(`${inside} | string`);
}

function email(step: Step) {
  step.approximate(message('import.choose_credential'));
  if (textOf(step.raw('attachments') ?? step.raw('options.attachments')) !== null)
    step.approximate(message('import.no_attachments'));
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
    ...(step.raw('options.bccEmail') === undefined ? {} : { bcc: step.param('options.bccEmail') }),
  });
  return [step.one(`nodes.${id}.output`)];
}

function sql(step: Step) {
  const operation = step.text('operation', step.node.version >= 2 ? 'insert' : 'executeQuery');
  if (operation === 'select') return selectRows(step);
  if (operation === 'insert' && step.raw('columns.value') !== undefined) return insertRow(step);
  if (operation !== 'executeQuery') throw new Unmappable(message('import.unknown_operation', { operation }));
  const query = step.text('query');
  if (query.startsWith('=') && query.includes('{{'))
    throw new Unmappable(message('import.sql_with_expression'));
  step.approximate(message('import.choose_credential'));
  const replacement = step.raw('options.queryReplacement');
  const parameters =
    typeof replacement === 'string'
      ? replacement
          .replace(/^=/, '')
          .split(/,(?![^{]*\}\})/)
          .map((part) => step.value(`=${part.trim()}`))
      : arrayOf(replacement).map((part) => step.value(part));
  const statement = query.replace(/^=/, '').trim();
  const id = step.add('sql.query', {
    credential_id: 0,
    query: statement,
    parameters,
    read_only: /^(?:select|with)\b/i.test(statement),
  });
  return [step.many(`nodes.${id}.output.rows`)];
}

/** A name that can be part of a statement as it is. */
const SQL_NAME = /^[A-Za-z_][\w$]*$/;

function quoted(step: Step, name: JsonValue): string {
  if (typeof name !== 'string' || !SQL_NAME.test(name))
    throw new Unmappable(message('import.sql_with_expression'));
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
  return step.node.kind === 'postgres' ? `$${number}` : '?';
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

/** What n8n keeps in Redis as single values fits Millrace's own store. */
function keyValue(step: Step) {
  const operation = step.text('operation', 'info');
  if (operation === 'get') {
    step.approximate(message('import.own_store'));
    const id = step.add('data.store', { operation: 'get', key: textSetting(step.param('key', '')) });
    const name = step.text('propertyName', 'propertyName');
    return [step.one(`nodes.${id}.output`, { [name]: ['value'] })];
  }
  if (operation === 'set' || operation === 'incr') {
    step.approximate(message('import.own_store'));
    const key = textSetting(step.param('key', ''));
    const ttl = step.raw('expire') === true ? { expires_in_s: Number(step.raw('ttl') ?? 60) || 60 } : {};
    const id = step.add(
      'data.store',
      operation === 'set'
        ? { operation: 'set', key, value: step.param('value'), ...ttl }
        : { operation: 'increment', key, ...ttl },
    );
    return [operation === 'set' ? step.pass('out', id) : step.one(`nodes.${id}.output`)];
  }
  if (operation === 'delete') {
    step.approximate(message('import.own_store'));
    const id = step.add('data.store', { operation: 'delete', key: textSetting(step.param('key', '')) });
    return [step.pass('out', id)];
  }
  throw new Unmappable(message('import.unknown_operation', { operation }));
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
