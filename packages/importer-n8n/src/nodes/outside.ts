import { type JsonValue, setOwn } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import { SERVICES } from '@millrace/importer-services/services';
import { message } from '@millrace/messages';
import { responseHeaderFault } from '@millrace/triggers';
import { forItem, forList, type Handlers } from '../handler.ts';
import { jsonParam } from '../json-text.ts';
import { arrayOf, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { askPerson } from './approvals.ts';
import { dataTable } from './data-tables.ts';
import { telegramFile, uploadToDrive } from './files.ts';
import { formPage } from './form-pages.ts';
import { githubFile } from './github.ts';
import { gmailMail, serviceMail } from './mail.ts';
import { callService } from './service-call.ts';
import { googleSheets } from './sheets.ts';
import { sql, sqlServer } from './sql.ts';
import { kafka, mongodb, redis, textSetting } from './stores.ts';
import { amazonS3, ownS3, upload } from './uploads.ts';
import { bigQuery, snowflake } from './warehouses.ts';

/** Nodes that reach other systems. */
export const OUTSIDE: Handlers = {
  ...Object.fromEntries(Object.keys(SERVICES).map((kind) => [kind, forItem(callOrAsk)])),
  telegram: forItem((step) =>
    step.text('resource', 'message') === 'file' ? telegramFile(step) : callOrAsk(step),
  ),
  gmail: forItem((step) => gmailMail(step) ?? callOrAsk(step)),
  github: forItem((step) => githubFile(step) ?? callOrAsk(step)),
  googleSheets: forItem(googleSheets),
  googleDrive: forItem((step) => (isDriveUpload(step) ? uploadToDrive(step) : callService(step))),
  emailSend: forItem(email),
  postgres: forItem((step) => sql(step)),
  mySql: forItem((step) => sql(step)),
  microsoftSql: forItem((step) => sqlServer(step)),
  googleBigQuery: forItem(bigQuery),
  snowflake: forItem(snowflake),
  respondToWebhook: forList(respond, { collects: true }),
  redis: forItem(redis),
  mongoDb: forItem(mongodb),
  kafka: forItem(kafka),
  dataTable: forItem(dataTable),
  awsS3: forItem(amazonS3),
  s3: forItem(ownS3),
  form: forItem(formPage),
};

/** A call of a service; with some, a person can be asked, too. */
function callOrAsk(step: Step) {
  return step.text('operation') === 'sendAndWait'
    ? askPerson(step)
    : (upload(step) ?? serviceMail(step) ?? callService(step));
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
    body: isRedirect ? null : underKey(step, how, responseBody(step, how)),
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

/** Items may be sent as a member of an object. */
function underKey(step: Step, how: string, body: JsonValue): JsonValue {
  const key = /^(?:allIncomingItems|firstIncomingItem)$/.test(how) ? step.text('options.responseKey') : '';
  if (key === '') return body;
  if (key.startsWith('=')) {
    step.approximate(message('import.settings_left_out', { names: 'responseKey' }));
    return body;
  }
  return key.split('.').reduceRight((inner, name) => ({ [name]: inner }), body);
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
