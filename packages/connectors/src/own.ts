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
import { type Message, message } from '@millrace/messages';
import { Compile } from 'typebox/compile';
import { type Connector, type OwnConnectorFile, ownConnectorSchema } from './format.ts';
import { lintContents } from './lint.ts';
import { lintUnusedJapanese } from './lint-japanese.ts';
import type { ConnectorFault } from './lint-parts.ts';
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
  'x-list',
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
function explain({ keyword, instancePath: at, message: said, params }: SchemaFault): ConnectorFault[] {
  const { requiredProperties = [], additionalProperties = [] } = params as {
    readonly [name: string]: readonly string[];
  };
  const named = (names: readonly string[], fault: Message) =>
    names.map((name) => ({ pointer: joinPointer(at, name), message: fault }));
  switch (keyword) {
    case 'required':
      return named(requiredProperties, message('connectors.missing'));
    case 'additionalProperties':
      return named(additionalProperties, message('connectors.not_a_member'));
    // Follows from the member that is not known.
    case 'boolean':
      return [];
    default:
      return [
        {
          pointer: at,
          message: message('connectors.keyword', {
            fault: describeKeyword(keyword, { ...params }, said).message,
          }),
        },
      ];
  }
}

function lintOwn(connector: Connector): ConnectorFault[] {
  const { hosts, authentication, operations, triggers = [] } = connector;
  const faults: ConnectorFault[] = [];
  if (operations.length + triggers.length === 0) {
    faults.push({ pointer: '/operations', message: message('connectors.nothing_described') });
  }
  if (authentication.types.includes('chat') || authentication.chat !== undefined) {
    faults.push({ pointer: '/authentication/types', message: message('connectors.chat_type') });
  }
  if (hosts.includes('*')) {
    faults.push({ pointer: '/hosts', message: message('connectors.any_host') });
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
      {
        pointer: at,
        message: message('connectors.too_many_settings', { given: entries.length, max: MAX_SETTINGS }),
      },
    ];
  }
  return entries.flatMap(([name, schema]) => {
    const pointer = joinPointer(at, name);
    if (!SETTING_NAME.test(name)) {
      return [{ pointer, message: message('connectors.setting_name') }];
    }
    const faults = [
      ...lintKeywords(schema as JsonObject, pointer),
      ...lintSchema(schema as JsonObject, pointer),
    ];
    if (typeof schema.type !== 'string' || !TYPES.includes(schema.type)) {
      faults.push({
        pointer: `${pointer}/type`,
        message: message('connectors.setting_type', { types: TYPES.join(', ') }),
      });
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
      return [
        { pointer, message: message('connectors.keyword_not_possible', { keywords: KEYWORDS.join(', ') }) },
      ];
    }
    if (keyword === 'properties' && isJsonObject(value)) {
      return Object.entries(value).flatMap(([name, each]) => lintKeywords(each, joinPointer(pointer, name)));
    }
    if (keyword === 'anyOf' && isJsonArray(value)) {
      return value.flatMap((each, index) => lintKeywords(each, `${pointer}/${index}`));
    }
    if (keyword === 'items' || keyword === 'additionalProperties') return lintKeywords(value, pointer);
    if (keyword === 'x-labels' && !isTexts(value)) {
      return [{ pointer, message: message('connectors.labels_not_texts') }];
    }
    if (
      (keyword === 'title' ||
        keyword === 'description' ||
        keyword === 'x-placeholder' ||
        keyword === 'x-list') &&
      typeof value !== 'string'
    ) {
      return [{ pointer, message: message('connectors.not_text') }];
    }
    return [];
  });
}

function isTexts(value: JsonValue): boolean {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

function lintSchema(schema: JsonObject, at: string): ConnectorFault[] {
  const faults = findSchemaFaults(schema).map(({ pointer, message: fault }) => ({
    pointer: `${at}${pointer}`,
    message: message('connectors.keyword', { fault }),
  }));
  if (faults.length > 0 || schema.default === undefined) return faults;
  return validateValue(schema as JsonSchema, schema.default as JsonValue)
    .slice(0, 1)
    .map(({ pointer, message: fault }) => ({
      pointer: `${at}/default${pointer}`,
      message: message('connectors.default_invalid', { fault }),
    }));
}
