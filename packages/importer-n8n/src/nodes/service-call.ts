import { isJsonArray, isJsonObject, type JsonValue } from '@millrace/engine';
import { extend, inUrl, template } from '@millrace/importer-kit/refs';
import { sameOperation, TOKEN_IN_PATH } from '@millrace/importer-services/same-operation';
import { meantOperation, type Operation, SERVICES, type Service } from '@millrace/importer-services/services';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { asText } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { AUTH } from './parts.ts';
import { CONVERTERS } from './service-values.ts';

/** A call to a service as an HTTP request, and where the items are in its response. */
export interface ServiceCall {
  readonly config: { [name: string]: JsonValue };
  readonly operation: Operation;
}

/** How a response becomes items, for those that n8n reshapes. */
const RESHAPED: { readonly [name: string]: string } = {
  airtable: '({ id: each.id, createdTime: each.createdTime, ...each.fields })',
  reddit: 'each.data',
  pipedrive: '({ result_score: each.result_score, ...each.item })',
  grist: '({ id: each.id, ...each.fields })',
};

/** The request that an operation of a known service comes down to. */
export function serviceCall(step: Step, service: Service): ServiceCall {
  const resource = step.text('resource') || service.resource;
  const name = operationByAccess(step) ?? (step.text('operation') || defaultOperation(service, resource));
  const written = `${resource}.${name}`;
  const meant = Object.hasOwn(service.operations, written) ? null : meantOperation(step.node.kind, written);
  if (meant !== null)
    step.approximate(message('import.nearest_operation', { operation: written, nearest: meant }));
  const key = meant ?? written;
  const operation = Object.hasOwn(service.operations, key) ? service.operations[key] : undefined;
  if (operation === undefined) throw new Unmappable(message('import.unknown_operation', { operation: key }));
  const config: { [name: string]: JsonValue } = {
    method: operation.method ?? 'GET',
    url: fillUrl(step, operation.url),
    ...(operation.open === true ? {} : { auth: AUTH }),
  };
  const query = filled(step, operation.query ?? null);
  if (query !== undefined && isJsonObject(query) && Object.keys(query).length > 0) config.query = query;
  const body = filled(step, operation.body ?? null);
  if (operation.body !== undefined) config.body = body ?? {};
  if (operation.form === true) config.body_type = 'form';
  if (operation.multipart === true) config.body_type = 'multipart';
  // A file is sent as a part of a form, next to which everything is text.
  if (step.raw('binaryData') === true && body !== undefined && isJsonObject(body)) {
    config.body_type = 'multipart';
    config.body = Object.fromEntries(Object.entries(body).map(([each, value]) => [each, asText(value)]));
  }
  const headers = filled(step, service.headers ?? null);
  if (headers !== undefined && isJsonObject(headers)) config.headers = { ...headers };
  return { config, operation };
}

/** A node of Discord that has a webhook can do nothing but call it. */
function operationByAccess(step: Step): string | null {
  return step.node.kind === 'discord' && step.text('authentication') === 'webhook' ? 'sendLegacy' : null;
}

function defaultOperation(service: Service, resource: string): string {
  if (resource === service.resource) return service.operation;
  const own = Object.keys(service.operations).filter((name) => name.startsWith(`${resource}.`));
  const names = own.map((name) => name.slice(resource.length + 1));
  // A resource with one operation needs no name for it.
  return ['create', 'make', 'search', 'get', 'getAll'].find((name) => names.includes(name)) ?? names[0] ?? '';
}

/** Makes the HTTP call of a node of a known service. */
export function callService(step: Step): readonly Out[] {
  const service = SERVICES[step.node.kind];
  if (service === undefined) throw new Unmappable(message('import.unknown_node'));
  const { config, operation } = serviceCall(step, service);
  if (operation.one === '::file') {
    const file = step.add('http.request', {
      ...config,
      response_type: 'file',
    });
    step.approximate(message('import.choose_credential'));
    const name = step.text('options.binaryPropertyName') || step.text('binaryPropertyName') || 'data';
    return [step.withFile(step.one(`nodes.${file}.output`, {}), name, `nodes.${file}.output.body`)];
  }
  const made = asOperation(step, config, operation);
  if (made !== null) return [made];
  // Nothing else puts a token into an address.
  config.url = asText(config.url ?? '').replace(TOKEN_IN_PATH, () => fillUrl(step, '(token)'));
  const id = step.add('http.request', config);
  step.approximate(message('import.called_by_hand'));
  if (operation.open !== true) step.approximate(message('import.choose_credential'));
  return [outOf(step, `nodes.${id}.output.body`, operation)];
}

/** The items of a list that n8n reads to its end; a node can't return more. */
const ALL_ITEMS = 10_000;

/** The operation of a connector that sends the same request and has the items in its output. */
function asOperation(step: Step, config: ServiceCall['config'], operation: Operation): Out | null {
  const { method, url, query = null, body = null, body_type: bodyType } = config;
  if (bodyType !== undefined && bodyType !== 'multipart') return null;
  const isForm = bodyType === 'multipart';
  const same = sameOperation({ isForm, method: asText(method ?? ''), url: asText(url ?? ''), query, body });
  if (same === null) return null;
  const isWhole = namesOf(operation).length === 0 && operation.many === undefined;
  const at = same.place(namesOf(operation)) ?? (isWhole && !same.hasPages ? [] : null);
  if (at === null) return null;
  const all = same.hasPages && step.raw('returnAll') === true ? { limit: ALL_ITEMS } : {};
  const id = step.add(same.type, { credential_id: 0, ...same.config, ...all });
  step.approximate(message('import.made_operation'));
  step.approximate(message('import.choose_credential'));
  const isShaped = isWhole && same.place([]) === null;
  if (isShaped) return step.one(`nodes.${id}.output`, same.shape);
  return outAt(step, extend(`nodes.${id}.output`, at), operation);
}

/** The path of the items in a response. */
function namesOf({ many, one }: Operation): readonly string[] {
  const [path = ''] = (many ?? one ?? '').split(':');
  return path.split(/[.[\]]+/).filter((name) => name !== '');
}

function outOf(step: Step, body: string, operation: Operation): Out {
  return outAt(step, extend(body, namesOf(operation)), operation);
}

/** @param at the path of the items */
function outAt(step: Step, at: string, { many, one }: Operation): Out {
  const [, reshaped = ''] = (many ?? one ?? '').split(':');
  const code = Object.hasOwn(RESHAPED, reshaped) ? RESHAPED[reshaped] : undefined;
  if (code === undefined) return many === undefined ? step.one(at) : step.many(at);
  const input = { found: template(at) };
  if (many === undefined) {
    const id = step.add(
      'core.code',
      { code: `const each = input.found;\nreturn ${code};`, input },
      { suffix: 'result' },
    );
    return step.one(`nodes.${id}.output.result`);
  }
  const id = step.add(
    'core.code',
    { code: `return (input.found ?? []).map((each) => ${code});`, input },
    { suffix: 'items' },
  );
  return step.many(`nodes.${id}.output.result`);
}

/** A URL in which parameters are escaped; what only its owner knows becomes a constant of the workflow. */
export function fillUrl(step: Step, url: string): string {
  const known = url.replace(/\(([\w-]+)\)/g, (_found, name: string) => {
    const variable = `${step.node.kind}_${name.replaceAll('-', '_')}`.toLowerCase().replace(/_your_/, '_');
    step.compiler.variables.add(variable);
    step.approximate(message('import.set_constant', { name: variable }));
    return template(`vars.${variable}`);
  });
  const made = known.replace(/(?<!\{)\{([^{}]+)\}(?!\})/g, (_found, spec: string) => {
    const value = valueFor(step, spec);
    if (value === undefined || value === null) return '';
    return typeof value === 'string' ? inUrl(value) : encodeURIComponent(JSON.stringify(value));
  });
  if (lacksPart(made) && !lacksPart(url)) step.approximate(message('import.url_incomplete'));
  return made;
}

/** Whether a part of the path of a URL is empty. */
function lacksPart(url: string): boolean {
  const [path = ''] = url.replace(/^https?:\/\//, '').split('?');
  return path.includes('//') || path.endsWith('/');
}

/** The table's value with the node's parameters in place; members that aren't set are left out. */
function filled(step: Step, value: JsonValue): JsonValue | undefined {
  if (typeof value === 'string') {
    const [, spec] = /^\{([^{}]+)\}$/.exec(value) ?? [];
    return spec === undefined ? value : valueFor(step, spec);
  }
  if (isJsonArray(value)) return value.flatMap((item) => filled(step, item) ?? []);
  if (!isJsonObject(value)) return value;
  const found: { [name: string]: JsonValue } = {};
  for (const [name, item] of Object.entries(value)) {
    const known = filled(step, item ?? null);
    if (known === undefined || isHollow(known, item ?? null)) continue;
    if (name === '...') Object.assign(found, isJsonObject(known) ? known : {});
    else found[name] = known;
  }
  return found;
}

/** An object of the table of which nothing was set. */
function isHollow(known: JsonValue, given: JsonValue): boolean {
  return isJsonObject(given) && isJsonObject(known) && Object.keys(known).length === 0;
}

/** `a|b=default:converter`: the first parameter that is set, or the default, made into what the service takes. */
function valueFor(step: Step, spec: string): JsonValue | undefined {
  const [, names = '', otherwise, converter] = /^([^=:]*)(?:=([^:]*))?(?::(.*))?$/.exec(spec) ?? [];
  if (converter !== undefined) {
    const convert = Object.hasOwn(CONVERTERS, converter) ? CONVERTERS[converter] : undefined;
    return convert?.(step, names);
  }
  for (const name of names.split('|')) {
    const isRequired = name.endsWith('!');
    const path = name.replace(/!$/, '');
    const value = step.raw(path);
    if (isRequired && step.raw('binaryData') === true)
      return template(step.file(step.text('binaryPropertyName', 'data') || 'data'));
    if (isRequired && value === undefined) throw new Unmappable(message('import.no_files'));
    if (value !== undefined && value !== '') return step.chosen(path);
  }
  return otherwise;
}
