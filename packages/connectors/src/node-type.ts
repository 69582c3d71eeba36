import {
  type HttpResponse,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  type NodeDefinition,
  type NodeExample,
  textOrJson,
} from '@millrace/engine';
import { credentialProperty, type NewCredential } from '@millrace/node-kit/credential-property';
import { checkedNode, type FormLayout } from '@millrace/node-kit/define';
import { MAX_TIMEOUT_MS } from '@millrace/node-kit/http/config';
import { isBlank } from '@millrace/node-kit/values';
import { type TProperties, type TSchema, Type } from 'typebox';
import type { Connector, Exchange, Operation } from './format.ts';
import { settingsReadBy } from './list-choices.ts';
import { MAX_ITEMS } from './pages.ts';
import { runOperation } from './run-operation.ts';
import { MAX_FILLED_WITH_FILES_BYTES, TemplateBudget } from './templates.ts';

/** What every type made from a connector of the catalogue begins with. */
const CONNECTOR_FAMILY = 'connector.';
/** The same for those that an organisation has uploaded. No connector of the catalogue has this id, so that none can be mistaken for another. */
export const OWN_FAMILY = 'own.';
/** Settings that every operation has besides its own. */
export const COMMON_SETTINGS = ['credential_id', 'limit', 'timeout_ms'] as const;
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_LIMIT = 100;
const RETRY = { maxAttempts: 3, backoffMs: 1_000, maxBackoffMs: 60_000 };

/** The node type of an operation. Its version is part of it, so that a stored workflow keeps what it was saved with. */
export function typeOf(
  connector: Pick<Connector, 'id' | 'own'>,
  operation: Pick<Operation, 'id' | 'version'>,
): string {
  return `${familyOf(connector, CONNECTOR_FAMILY)}${connector.id}.${operation.id}${versionOf(operation)}`;
}

/** What stands before a connector's id. */
export function familyOf(connector: Pick<Connector, 'own'>, ofCatalogue: string): string {
  return isOwn(connector) ? OWN_FAMILY : ofCatalogue;
}

/** Whether an organisation has uploaded it. */
export function isOwn({ own }: Pick<Connector, 'own'>): boolean {
  return own === true;
}

/** What a version adds to a type. */
export function versionOf({ version }: { readonly version?: number | undefined }): string {
  return version === undefined ? '' : `.v${version}`;
}

/** The title of an operation's node in one language. */
export function titleOf(connector: string, operation: string): string {
  return `${connector}: ${operation}`;
}

/** The node of an operation. */
export function nodeOf(connector: Connector, operation: Operation): NodeDefinition {
  const properties = propertiesOf(connector, operation);
  return checkedNode<TProperties>({
    type: typeOf(connector, operation),
    title: titleOf(connector.title, operation.title),
    description: operation.description,
    icon: connector.icon,
    kind: 'effect',
    isInterpreted: isOwn(connector),
    properties,
    required: [...Object.keys(credentialOf(connector)), ...operation.required],
    // The config's own timeout_ms decides about each request; this only has to exceed those of a few pages.
    defaultTimeoutMs: MAX_TIMEOUT_MS * 2,
    defaultRetry: RETRY,
    form: formOf(connector, operation),
    synonyms: synonymsOf(connector, operation),
    examples: operation.exchanges.map((exchange) => exampleOf(connector, operation, exchange)),
    run(config, context) {
      const { credential_id, timeout_ms, limit = 0, ...args } = config as JsonObject;
      const limits = { credential_id: Number(credential_id ?? 0), timeout_ms: Number(timeout_ms) };
      const budget = new TemplateBudget(
        operation.files === undefined ? undefined : MAX_FILLED_WITH_FILES_BYTES,
      );
      const call = { connector, operation, args, limits, budget, idempotencyKey: context.idempotencyKey };
      return runOperation(call, Number(limit), context);
    },
  });
}

/** Words by which an operation or a trigger is found. */
export function synonymsOf(
  connector: Connector,
  { title, synonyms = [] }: Pick<Operation, 'title' | 'synonyms'>,
): readonly string[] {
  return [...new Set([...connector.synonyms, ...synonyms, ...wordsOf(title)])];
}

function wordsOf(title: string): readonly string[] {
  return title
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 3);
}

function propertiesOf(connector: Connector, operation: Operation): TProperties {
  return {
    ...credentialOf(connector),
    ...ownProperties(connector, operation),
    ...(operation.pagination === undefined ? {} : { limit: limitProperty }),
    timeout_ms: timeoutProperty,
  };
}

/** The setting of the credential; none if the service asks for none. */
export function credentialOf(connector: Connector): TProperties {
  const { types, description } = connector.authentication;
  if (types.length === 0) return {};
  const start = newCredentialOf(connector);
  return { credential_id: credentialProperty(types, 'Credential', description, 'needed', start) };
}

/** What a new credential for a connector begins with. */
export function newCredentialOf({ title, hosts, base_url: url, authentication }: Connector): NewCredential {
  const { chat, new_credential: fields = {} } = authentication;
  const [, host = ''] = /^https?:\/\/([^/:]*\{\{\s*args\.\w+\s*\}\}[^/:]*)/.exec(url) ?? [];
  return {
    name: title,
    hosts,
    ...(host === '' ? {} : { host: host.replace(/\{\{\s*args\.(\w+)\s*\}\}/g, '{{$1}}') }),
    fields: chat === undefined ? namesIn(fields as JsonObject) : { chat: { service: chat.service } },
  };
}

/** Fields by the type of a credential, with settings in them as the form knows them: `{{subdomain}}`. */
function namesIn(fields: JsonObject): NewCredential['fields'] {
  const text = JSON.stringify(fields).replace(/\{\{\s*args\.(\w+)\s*\}\}/g, '{{$1}}');
  return JSON.parse(text) as NewCredential['fields'];
}

/** The settings that a file describes. */
export function ownProperties(
  connector: Connector,
  { settings, required }: Pick<Operation, 'settings' | 'required'>,
): TProperties {
  const own = Object.entries(settings).map(([name, schema]): [string, TSchema] => [
    name,
    Type.Unsafe(listedSetting(connector, settingOf(schema, required.includes(name)))),
  ]);
  return Object.fromEntries(own);
}

const limitProperty = Type.Integer({
  title: 'Limit',
  description: 'The maximum number of items. They are fetched page by page.',
  minimum: 1,
  maximum: MAX_ITEMS,
  default: DEFAULT_LIMIT,
});

const timeoutProperty = Type.Integer({
  title: 'Timeout',
  description: 'Time limit for each request in milliseconds, including redirects.',
  minimum: 1,
  maximum: MAX_TIMEOUT_MS,
  default: DEFAULT_TIMEOUT_MS,
});

/** A setting with its default; a required one that would be empty has to be filled in. */
function settingOf(schema: JsonSchema, isRequired: boolean): JsonSchema {
  const byDefault = schema.default === undefined ? emptyOf(schema) : (schema.default as JsonValue);
  const isNeeded = isRequired && isBlank(byDefault);
  return { ...schema, default: byDefault, ...(isNeeded ? { 'x-filled': true } : {}) };
}

/** A setting with where its values are listed, as forms know it. */
function listedSetting(connector: Connector, { 'x-list': id, ...schema }: JsonSchema): JsonSchema {
  const list = connector.lists?.find((each) => each.id === id);
  if (list === undefined) return schema;
  const of = `${isOwn(connector) ? OWN_FAMILY : ''}${connector.id}`;
  return {
    ...schema,
    'x-options': 'credential_id',
    'x-options-list': { list: `${of}.${list.id}`, reads: settingsReadBy(list) },
  };
}

function emptyOf({ type }: JsonSchema): JsonValue {
  switch (type) {
    case 'string':
      return '';
    case 'array':
      return [];
    case 'object':
      return {};
    case 'boolean':
      return false;
    default:
      return null;
  }
}

function formOf(connector: Connector, { settings, sections = [], pagination }: Operation): FormLayout {
  const hidden = sections.flatMap(({ fields }) => fields);
  const main = Object.keys(settings).filter((name) => !hidden.includes(name));
  return {
    main: [...Object.keys(credentialOf(connector)), ...main, ...(pagination === undefined ? [] : ['limit'])],
    sections: [...sections, { title: 'Limits', fields: ['timeout_ms'] }],
  };
}

/** The credential in the settings of an example. */
export function exampleCredential(connector: Connector): JsonObject {
  return Object.keys(credentialOf(connector)).length === 0 ? {} : { credential_id: 1 };
}

/** A recorded exchange as an example. */
function exampleOf(connector: Connector, operation: Operation, exchange: Exchange): NodeExample {
  const { title, config, steps, output, failure: code } = exchange;
  return {
    title,
    config: { ...exampleCredential(connector), ...config },
    http: operation.response === 'file' ? [] : steps.map(({ response }) => answerOf(response)),
    credential: { type: 'bearer', token: 'your-token' },
    expect: code === undefined ? { output: output ?? {} } : { failure: { code } },
  };
}

function answerOf({ status, headers = {}, body }: Exchange['steps'][number]['response']): HttpResponse {
  const text = body === undefined ? '' : textOrJson(body);
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    status,
    headers: { 'content-type': 'application/json', ...Object.fromEntries(lowered) },
    body: new TextEncoder().encode(text),
  };
}
