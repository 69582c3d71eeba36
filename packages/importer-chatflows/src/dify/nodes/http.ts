import { type JsonObject, type JsonValue, setOwn } from '@millrace/engine';
import { extend, template } from '@millrace/importer-kit/refs';
import { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import type { DirectStep, Made, Make } from '../../direct/maker.ts';
import { pairsIn } from '../../direct/pairs.ts';
import { jsonValue, namesIn, selected, textValue } from '../values.ts';
import { withError } from './errors.ts';

/** Calls that are written out in the original. */
export const HTTP: { readonly [type: string]: Make } = { 'http-request': withError(request) };

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** A credential that has to be chosen after the import. */
const AUTH = { type: 'credential', credential_id: 0 };

function request(step: DirectStep): Made {
  const { data } = step;
  const given = asText(data.method).toUpperCase();
  const method = METHODS.has(given) ? given : 'GET';
  const headers = pairsIn(asText(data.headers), (text) => textValue(step, text));
  const query = pairsIn(asText(data.params), (text) => textValue(step, text));
  const body = method === 'GET' || method === 'HEAD' ? {} : bodyOf(step, objectOf(data.body), headers);
  const isSecret = objectOf(data.authorization).type === 'api-key';
  if (isSecret) step.approximate(message('import.choose_credential'));
  const seconds = Number(objectOf(data.timeout).max_read_timeout ?? objectOf(data.timeout).read);
  const verifies = data.ssl_verify !== false;
  if (!verifies) step.approximate(message('import.certificate_checked'));
  const id = step.add('http.request', {
    method,
    url: textValue(step, data.url).trim(),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...body,
    ...(isSecret ? { auth: AUTH } : {}),
    // The original passes on every response as text, and those that say no, too.
    response_type: 'text',
    success_statuses: ['200-599'],
    ...(seconds >= 1 && seconds <= 300 ? { timeout_ms: Math.round(seconds * 1000) } : {}),
  });
  return step.result(([name = '', ...rest]) => {
    if (name === 'body') return `nodes.${id}.output.body`;
    if (name === 'status_code') return `nodes.${id}.output.status`;
    return name === 'headers' ? extend(`nodes.${id}.output.headers`, rest) : null;
  });
}

function bodyOf(step: DirectStep, body: JsonObject, headers: { [name: string]: JsonValue }) {
  const parts = arrayOf(body.data).map(objectOf);
  const [first] = parts;
  const text = typeof body.data === 'string' ? body.data : asText(first?.value);
  switch (textOf(body.type) ?? 'none') {
    case 'json': {
      const value = jsonValue(step, text);
      if (value !== undefined) return { body: value };
      const isTyped = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
      if (!isTyped) headers['Content-Type'] = 'application/json';
      return { body: textValue(step, text), body_type: 'text' };
    }
    case 'raw-text':
      return { body: textValue(step, text), body_type: 'text' };
    case 'x-www-form-urlencoded':
      return { body: fieldsOf(step, body), body_type: 'form' };
    case 'form-data':
      return { body: fieldsOf(step, body), body_type: 'multipart' };
    case 'binary':
      return { body: template(selected(step, first?.file)), body_type: 'file' };
    default:
      return {};
  }
}

/** Fields as lines of text in older exports, one by one in newer ones. */
function fieldsOf(step: DirectStep, body: JsonObject): { [name: string]: JsonValue } {
  if (typeof body.data === 'string') return pairsIn(body.data, (text) => textValue(step, text));
  const fields: { [name: string]: JsonValue } = {};
  for (const part of arrayOf(body.data).map(objectOf)) {
    const name = textValue(step, part.key).trim();
    if (name === '') continue;
    const isFile = part.type === 'file' && namesIn(part.file) !== null;
    setOwn(fields, name, isFile ? template(selected(step, part.file)) : textValue(step, part.value));
  }
  return fields;
}
