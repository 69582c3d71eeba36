import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { jsonSource, membersOf, splitSegments } from '@millrace/importer-expressions/expressions';
import { type Shape, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { forItem, type Handlers } from '../handler.ts';
import { jsonParam } from '../json-text.ts';
import { arrayOf, asText, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { feedsFile } from './files.ts';
import { AUTH } from './parts.ts';
import { receivedBody, responseOut } from './responses.ts';

/** Calls that are written out in the original. */
export const HTTP: Handlers = {
  httpRequest: forItem(request),
  graphql: forItem(graphql),
  rssFeedRead: forItem(feed),
};

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The settings of an HTTP request as they would be of a node here. */
export function requestConfig(step: Step): { [name: string]: JsonValue } {
  const isOld = step.node.version < 3 && step.node.kind === 'httpRequest';
  const given = step.text(isOld ? 'requestMethod' : 'method', 'GET').toUpperCase();
  const method = METHODS.has(given) ? given : 'GET';
  const config: { [name: string]: JsonValue } = { method, url: step.param('url', '') };
  const headers = isOld ? oldPairs(step, 'header') : pairs(step, 'Headers', 'header');
  const query = isOld ? oldPairs(step, 'query') : pairs(step, 'Query', 'query');
  if (Object.keys(query).length > 0) config.query = query;
  Object.assign(config, bodyOf(step, isOld, headers));
  const auth = step.text('authentication', 'none');
  const hasCredential = auth !== 'none' && auth !== '';
  if (hasCredential) settleAuthorization(step, auth, headers);
  if (Object.keys(headers).length > 0) config.headers = headers;
  if (hasCredential) {
    config.auth = AUTH;
    step.approximate(message('import.choose_credential'));
  }
  addOptions(step, config);
  return config;
}

/** How requests may be authenticated without an `Authorization` header: by another header, by the query, or by both. */
const OTHER_AUTHENTICATION = new Set([
  'httpHeaderAuth',
  'httpQueryAuth',
  'httpCustomAuth',
  'headerAuth',
  'queryAuth',
]);

/** Of `Authorization`, what the credential sets is left out, and what may stand beside it is kept. */
function settleAuthorization(step: Step, authentication: string, headers: Pairs): void {
  const type = authentication === 'genericCredentialType' ? step.text('genericAuthType', '') : authentication;
  for (const name of Object.keys(headers).filter((each) => each.toLowerCase() === 'authorization')) {
    if (OTHER_AUTHENTICATION.has(type)) {
      step.approximate(message('import.header_beside_credential', { name }));
      continue;
    }
    delete headers[name];
    step.approximate(message('import.header_of_credential', { name }));
  }
}

/** As long as a request may take here, and takes at most in n8n unless it says otherwise. */
const MAX_TIMEOUT_MS = 300_000;

function addOptions(step: Step, config: { [name: string]: JsonValue }): void {
  const timeout = Number(step.raw('options.timeout'));
  const isGiven = timeout >= 1;
  config.timeout_ms = isGiven ? Math.min(Math.floor(timeout), MAX_TIMEOUT_MS) : MAX_TIMEOUT_MS;
  if (isGiven && timeout > MAX_TIMEOUT_MS)
    step.approximate(message('import.timeout_capped', { max: MAX_TIMEOUT_MS / 1000 }));
  const follows = step.raw('options.redirect.redirect.followRedirects') ?? step.raw('options.followRedirect');
  if (follows === false) config.follow_redirects = false;
  if (step.raw('options.allowUnauthorizedCerts') === true || step.raw('allowUnauthorizedCerts') === true)
    step.approximate(message('import.certificate_checked'));
  if (step.raw('options.batching') !== undefined || step.raw('options.batchInterval') !== undefined)
    step.approximate(message('import.requests_not_spaced'));
  if (step.raw('options.proxy') !== undefined) step.approximate(message('import.proxy_left_out'));
}

function request(step: Step): readonly Out[] {
  const config = requestConfig(step);
  if (step.raw('options.pagination') !== undefined) step.approximate(message('import.pages_not_followed'));
  const isOld = step.node.version < 3;
  const nested = step.raw('options.response.response.fullResponse') ?? step.raw('options.fullResponse');
  const format = textOf(step.raw(isOld ? 'responseFormat' : 'options.response.response.responseFormat'));
  if (
    step.raw('options.response.response.neverError') === true ||
    step.raw('options.ignoreResponseCode') === true
  )
    config.success_statuses = ['200-599'];
  const isFile = format === 'file' || (format === null && feedsFile(step.compiler, step.node));
  if (isFile) config.response_type = 'file';
  if (format === 'text' || format === 'string') config.response_type = 'text';
  const id = step.add('http.request', config);
  const property =
    step.text(isOld ? 'dataPropertyName' : 'options.response.response.outputPropertyName') || 'data';
  if (isFile) {
    const out = step.one(`nodes.${id}.output`, { headers: ['headers'], statusCode: ['status'] });
    return [step.withFile(out, property, `nodes.${id}.output.body`)];
  }
  if (nested === true)
    return [step.one(`nodes.${id}.output`, { body: ['body'], headers: ['headers'], statusCode: ['status'] })];
  if (config.response_type === 'text')
    return [step.one(`nodes.${id}.output.body`, { [property]: [] } satisfies Shape)];
  const body =
    format === null || format === 'autodetect' ? receivedBody(step, id) : `nodes.${id}.output.body`;
  return [responseOut(step, body, config)];
}

type Pairs = { [name: string]: JsonValue };

function pairs(step: Step, what: string, name: string): Pairs {
  if (step.raw(`send${what}`) !== true) return {};
  if (step.text(`specify${what}`, 'keypair') === 'json') {
    const members = membersIn(step, step.raw(`json${what}`));
    if (members !== null) return members;
    const value = jsonParam(step, step.raw(`json${what}`) ?? '{}');
    if (value !== undefined && isJsonObject(value)) return { ...value };
    throw new Unmappable(message('import.not_json', { parameter: `json${what}` }));
  }
  return named(step, step.raw(`${name}Parameters.parameters`));
}

/** The members of an object that one expression writes out; null for anything else. */
function membersIn(step: Step, given: JsonValue | undefined): Pairs | null {
  const segments =
    typeof given === 'string' && given.startsWith('=') ? splitSegments(given.slice(1).trim()) : null;
  const [only] = segments ?? [];
  if (segments?.length !== 1 || only === undefined || !('code' in only)) return null;
  const members = membersOf(jsonSource(only.code));
  return members === null
    ? null
    : Object.fromEntries([...members].map(([name, code]) => [name, step.expression(code)]));
}

function oldPairs(step: Step, name: string): Pairs {
  if (step.raw('jsonParameters') === true) {
    const value = jsonParam(step, step.raw(`${name}ParametersJson`));
    return value !== undefined && isJsonObject(value) ? { ...value } : {};
  }
  return named(step, step.raw(`${name}ParametersUi.parameter`));
}

function named(step: Step, list: JsonValue | undefined): Pairs {
  const found: Pairs = {};
  for (const each of arrayOf(list).map(objectOf)) {
    const name = textOf(each.name) ?? '';
    if (name === '' || name === '__proto__') continue;
    found[name] = step.value(each.value ?? '');
  }
  return found;
}

function bodyOf(step: Step, isOld: boolean, headers: Pairs): Pairs {
  if (isOld) return oldBody(step);
  if (step.raw('sendBody') !== true) return {};
  const type = step.text('contentType', 'json');
  if (type === 'binaryData')
    return {
      body: template(step.file(step.text('inputDataFieldName', 'data') || 'data')),
      body_type: 'file',
    };
  if (type === 'multipart-form-data') return multipart(step, headers);
  if (type === 'raw') {
    const name = Object.keys(headers).find((each) => each.toLowerCase() === 'content-type');
    const raw = step.param('rawContentType', 'text/plain');
    if (name === undefined && typeof raw === 'string' && raw !== '') headers['Content-Type'] = raw;
    return { body: step.param('body', ''), body_type: 'text' };
  }
  const fields = () => named(step, step.raw('bodyParameters.parameters'));
  if (type === 'form-urlencoded') {
    const isText = step.text('specifyBody', 'keypair') === 'string';
    if (!isText) return { body: fields(), body_type: 'form' };
    headers['Content-Type'] = 'application/x-www-form-urlencoded';
    return { body: step.param('body', ''), body_type: 'text' };
  }
  if (step.text('specifyBody', 'keypair') !== 'json') return { body: fields() };
  return jsonBody(step, step.raw('jsonBody'), headers);
}

/** A form in which some fields are files of the item. */
function formWithFiles(step: Step, fields: readonly JsonObject[]): Pairs {
  const body: Pairs = {};
  for (const each of fields) {
    const name = textOf(each.name);
    if (name === null || name === '__proto__') continue;
    const isFile = each.parameterType === 'formBinaryData';
    body[name] = isFile
      ? template(step.file(textOf(each.inputDataFieldName) ?? 'data'))
      : asText(step.value(each.value ?? ''));
  }
  return { body, body_type: 'multipart' };
}

const BOUNDARY = 'millrace-form-boundary-7d1f';

/** A form of text fields, written out; files can't be sent. */
function multipart(step: Step, headers: Pairs): Pairs {
  const fields = arrayOf(step.raw('bodyParameters.parameters')).map(objectOf);
  if (fields.some(({ parameterType }) => parameterType === 'formBinaryData'))
    return formWithFiles(step, fields);
  const values = named(step, step.raw('bodyParameters.parameters'));
  const parts = Object.entries(values).map(
    ([name, value]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name.replaceAll('"', '%22')}"\r\n\r\n${asText(value)}\r\n`,
  );
  headers['Content-Type'] = `multipart/form-data; boundary=${BOUNDARY}`;
  return { body: `${parts.join('')}--${BOUNDARY}--\r\n`, body_type: 'text' };
}

function jsonBody(step: Step, given: JsonValue | undefined, headers: Pairs): Pairs {
  const value = jsonParam(step, given);
  if (value !== undefined) return { body: value };
  if (typeof given !== 'string' || given.trim() === '') return {};
  const name = Object.keys(headers).find((each) => each.toLowerCase() === 'content-type');
  if (name === undefined) headers['Content-Type'] = 'application/json';
  return { body: step.value(given), body_type: 'text' };
}

function oldBody(step: Step): Pairs {
  if (!/^(?:POST|PUT|PATCH|DELETE)$/.test(step.text('requestMethod', 'GET'))) return {};
  const type = step.text('bodyContentType', 'json');
  if (step.raw('sendBinaryData') === true) return oldFiles(step, type);
  if (type === 'multipart-form-data') throw new Unmappable(message('import.no_files'));
  if (step.raw('jsonParameters') === true) return jsonBody(step, step.raw('bodyParametersJson'), {});
  const body = named(step, step.raw('bodyParametersUi.parameter'));
  return { body, ...(type === 'form-urlencoded' ? { body_type: 'form' } : {}) };
}

/** `file:data` names a field and a file, a name alone the file that is the whole body. */
function oldFiles(step: Step, type: string): Pairs {
  const given = step.text('binaryPropertyName', 'data') || 'data';
  if (type !== 'multipart-form-data') return { body: template(step.file(given)), body_type: 'file' };
  const body: Pairs = Object.fromEntries(
    Object.entries(named(step, step.raw('bodyParametersUi.parameter'))).map(([name, value]) => [
      name,
      asText(value),
    ]),
  );
  for (const pair of given.split(',')) {
    const [name = '', file = name] = pair.split(':').map((part) => part.trim());
    body[name] = template(step.file(file));
  }
  return { body, body_type: 'multipart' };
}

function graphql(step: Step): readonly Out[] {
  const variables = jsonParam(step, step.raw('variables'));
  const headers = named(step, step.raw('headerParametersUi.parameter'));
  const auth = step.text('authentication', 'none');
  if (auth !== 'none') step.approximate(message('import.choose_credential'));
  const id = step.add('http.request', {
    method: step.text('requestMethod', 'POST') === 'GET' ? 'GET' : 'POST',
    url: step.param('endpoint', ''),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    body: { query: step.param('query', ''), ...(variables === undefined ? {} : { variables }) },
    ...(auth === 'none' ? {} : { auth: AUTH }),
  });
  return [step.one(`nodes.${id}.output.body`)];
}

/** The items of a feed under the names that they have in n8n. */
const FEED_ITEMS = `return input.items.map((item) => ({
  title: item.title, link: item.url, guid: item.id, creator: item.author, pubDate: item.published_at, isoDate: item.published_at,
  content: item.content_html, contentSnippet: item.summary, categories: item.categories, enclosure: item.attachments[0],
}));`;

function feed(step: Step): readonly Out[] {
  const read = step.add('data.feed', { source: 'url', url: step.param('url', ''), limit: 1000 });
  const items = step.add(
    'core.code',
    { code: FEED_ITEMS, input: { items: template(`nodes.${read}.output.items`) } },
    { suffix: 'items' },
  );
  return [step.many(`nodes.${items}.output.result`)];
}
