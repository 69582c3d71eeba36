import {
  describeKeyword,
  findSchemaFaults,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  joinPointer,
  validateValue,
} from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { Compile } from 'typebox/compile';
import { type Connector, type OwnConnectorFile, ownConnectorSchema } from './format.ts';
import { type ConnectorFault, lintContents, lintUnusedJapanese } from './lint.ts';
import { complete } from './own-file.ts';

/** What a setting's schema may consist of. All of it is checked in linear time, and forms know how to show it. */
const KEYWORDS = [
  'type',
  'title',
  'description',
  'default',
  'enum',
  'const',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'additionalProperties',
  'anyOf',
  'x-labels',
  'x-placeholder',
  'x-multiline',
  'x-filled',
] as const;
const SETTING_NAME = /^[a-z][a-z0-9_]{0,59}$/;
const TYPES: readonly string[] = ['string', 'integer', 'number', 'boolean', 'array', 'object'];
const MAX_SETTINGS = 60;
/** More have few causes. */
const MAX_FAULTS = 50;

/** An uploaded file that was read: a connector, or what is wrong with it. */
export type OwnConnector =
  | { readonly connector: Connector }
  | { readonly faults: readonly [ConnectorFault, ...ConnectorFault[]] };

let validator: ReturnType<typeof Compile<typeof ownConnectorSchema>> | null = null;

/** Checks a file that an organisation has written. What it may leave out gets its default. */
export function readOwnConnector(file: JsonValue): OwnConnector {
  validator ??= Compile(ownConnectorSchema);
  const [first, ...rest] = validator.Check(file) ? [] : validator.Errors(file).flatMap(explain);
  if (first !== undefined) return { faults: [first, ...rest.slice(0, MAX_FAULTS - 1)] };
  const connector = complete(file as OwnConnectorFile);
  const own = lintOwn(connector);
  // The rest relies on sound schemas of settings.
  const found = own.length > 0 ? own : [...lintContents(connector), ...lintUnusedJapanese(connector)];
  const [fault, ...others] = found;
  return fault === undefined ? { connector } : { faults: [fault, ...others.slice(0, MAX_FAULTS - 1)] };
}

interface SchemaFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/** A fault of the file's form, in words. */
function explain({ keyword, instancePath: at, message, params }: SchemaFault): ConnectorFault[] {
  const { requiredProperties = [], additionalProperties = [] } = params as {
    readonly [name: string]: readonly string[];
  };
  const named = (names: readonly string[], said: string) =>
    names.map((name) => ({ pointer: joinPointer(at, name), message: said }));
  switch (keyword) {
    case 'required':
      return named(requiredProperties, 'is missing; add it.');
    case 'additionalProperties':
      return named(additionalProperties, 'is not a member of the format; correct its name or remove it.');
    // Follows from the member that is not known.
    case 'boolean':
      return [];
    default:
      return [
        { pointer: at, message: `${inEnglish(describeKeyword(keyword, { ...params }, message).message)}.` },
      ];
  }
}

function lintOwn(connector: Connector): ConnectorFault[] {
  const { hosts, authentication, operations, triggers = [] } = connector;
  const faults: ConnectorFault[] = [];
  if (operations.length + triggers.length === 0) {
    faults.push({ pointer: '/operations', message: 'is empty, and there are no triggers; describe one.' });
  }
  if (authentication.types.includes('chat') || authentication.chat !== undefined) {
    const message = 'is for services that chats go through; use bearer, basic, header, query or oauth2.';
    faults.push({ pointer: '/authentication/types', message });
  }
  if (hosts.includes('*')) {
    faults.push({ pointer: '/hosts', message: "has '*', which is any host; name those of the service." });
  }
  for (const [list, each] of [
    ['operations', operations],
    ['triggers', triggers],
  ] as const) {
    for (const [index, { settings }] of each.entries()) {
      faults.push(...lintSettingsOf(settings, `/${list}/${index}/settings`));
    }
  }
  return faults;
}

function lintSettingsOf(settings: { readonly [name: string]: JsonSchema }, at: string): ConnectorFault[] {
  const entries = Object.entries(settings);
  if (entries.length > MAX_SETTINGS) {
    return [
      { pointer: at, message: `has ${entries.length} settings; at most ${MAX_SETTINGS} are possible.` },
    ];
  }
  return entries.flatMap(([name, schema]) => {
    const pointer = joinPointer(at, name);
    if (!SETTING_NAME.test(name)) {
      const message = 'is no name of a setting; use lower-case letters, digits and underscores.';
      return [{ pointer, message }];
    }
    const faults = [
      ...lintKeywords(schema as JsonObject, pointer),
      ...lintSchema(schema as JsonObject, pointer),
    ];
    if (typeof schema.type !== 'string' || !TYPES.includes(schema.type)) {
      faults.push({ pointer: `${pointer}/type`, message: `has to be one of ${TYPES.join(', ')}.` });
    }
    return faults;
  });
}

/** Keywords that settings can't have, at any depth. */
function lintKeywords(schema: JsonValue, at: string): ConnectorFault[] {
  if (!isJsonObject(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const pointer = joinPointer(at, keyword);
    if (!(KEYWORDS as readonly string[]).includes(keyword)) {
      return [{ pointer, message: `is not possible in settings; there is ${KEYWORDS.join(', ')}.` }];
    }
    if (keyword === 'properties' && isJsonObject(value)) {
      return Object.entries(value).flatMap(([name, each]) => lintKeywords(each, joinPointer(pointer, name)));
    }
    if (keyword === 'anyOf' && isJsonArray(value)) {
      return value.flatMap((each, index) => lintKeywords(each, `${pointer}/${index}`));
    }
    if (keyword === 'items' || keyword === 'additionalProperties') return lintKeywords(value, pointer);
    if (keyword === 'x-labels' && !isTexts(value)) {
      return [{ pointer, message: 'has to be an object of texts: the label of each value.' }];
    }
    if (
      (keyword === 'title' || keyword === 'description' || keyword === 'x-placeholder') &&
      typeof value !== 'string'
    ) {
      return [{ pointer, message: 'has to be a text.' }];
    }
    return [];
  });
}

function isTexts(value: JsonValue): boolean {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

function lintSchema(schema: JsonObject, at: string): ConnectorFault[] {
  const faults = findSchemaFaults(schema).map(({ pointer, message }) => ({
    pointer: `${at}${pointer}`,
    message: `${inEnglish(message)}.`,
  }));
  if (faults.length > 0 || schema.default === undefined) return faults;
  return validateValue(schema as JsonSchema, schema.default as JsonValue)
    .slice(0, 1)
    .map(({ pointer, message }) => ({
      pointer: `${at}/default${pointer}`,
      message: `${inEnglish(message)}, by the setting's own schema.`,
    }));
}
