import {
  CHAT_SERVICES,
  HTTP_CREDENTIAL_TYPES,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
} from '@millrace/engine';
import { type Static, type TSchema, Type } from 'typebox';

/*
 * The format of a connector's file (ADR 0072). A template in it reads `args.<setting>`, and whatever reads an answer also
 * `args.response` with `status`, `headers` and `body`.
 */

const closed = <Properties extends { readonly [name: string]: TSchema }>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
const text = () => Type.String({ minLength: 1, maxLength: 2_000 });
const address = () => Type.String({ pattern: '^https?://[^/?#]+(/[^?#]*[^/?#])?$' });
const name = () => Type.String({ pattern: '^[a-z][a-z0-9_]{0,59}$' });
const templates = () => Type.Record(Type.String(), text());
const json = () => Type.Unsafe<JsonValue>({});
const headerName = () => Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" });
const words = () => Type.Array(Type.String({ pattern: '^[^A-Z]+$' }), { maxItems: 20 });

/** How a service's refusal is understood. */
export const REFUSALS = ['rate_limited', 'auth_failed', 'not_found', 'refused', 'unavailable'] as const;
export type Refusal = (typeof REFUSALS)[number];

const errorRule = closed({
  /** Looked at before the status; the first that holds counts. */
  when: text(),
  as: Type.Enum([...REFUSALS], { type: 'string' }),
  /** Seconds until the service may be asked again, if it doesn't say so by Retry-After. */
  retry_after_s: Type.Optional(text()),
  /** The moment of that, in seconds since the epoch. */
  retry_at_s: Type.Optional(text()),
});
export type ErrorRule = Static<typeof errorRule>;

/** Where a value that belongs to a page goes. In a body, `/a/b` is the member `b` of `a`. */
const place = closed({ in: Type.Enum(['query', 'body'], { type: 'string' }), name: text() });
export type Place = Static<typeof place>;

const pagination = closed({
  /**
   * - `cursor`: `next` gives what the next request sends in `into`; empty: that was all.
   * - `link`: the header Link names the next request.
   * - `next_url`: `next` gives the whole address of the next request.
   * - `page`, `offset`: `into` takes the number of the page or of the first item.
   */
  type: Type.Enum(['cursor', 'link', 'next_url', 'page', 'offset'], { type: 'string' }),
  /** The list of items in an answer. */
  items: text(),
  /** The service leaves the list out when there are no items. */
  optional: Type.Optional(Type.Literal(true)),
  next: Type.Optional(text()),
  into: Type.Optional(place),
  /** Asks for so many items per page. */
  size: closed({ in: place.properties.in, name: text(), max: Type.Integer({ minimum: 1, maximum: 1_000 }) }),
  /** Number of the first page. Default 1. */
  first: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type Pagination = Static<typeof pagination>;

const exchangeStep = closed({
  request: closed({
    method: text(),
    /** With its query, as it is on the wire. */
    path: text(),
    headers: Type.Optional(templates()),
    /** JSON, or the text of any other body; absent: there is none. */
    body: Type.Optional(json()),
  }),
  response: closed({
    status: Type.Integer({ minimum: 200, maximum: 599 }),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    body: Type.Optional(json()),
  }),
});

const exchange = closed({
  title: text(),
  config: Type.Unsafe<JsonObject>({ type: 'object' }),
  steps: Type.Array(exchangeStep, { minItems: 1, maxItems: 10 }),
  output: Type.Optional(Type.Unsafe<JsonObject>({ type: 'object' })),
  /** The code of the failure. */
  failure: Type.Optional(text()),
});
export type Exchange = Static<typeof exchange>;

const request = closed({
  method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { type: 'string' }),
  /** Instead of the connector's own, for what the service offers at another address. */
  base_url: Type.Optional(address()),
  path: Type.String({ pattern: '^/' }),
  /** Settings in the path whose value may contain slashes. */
  whole: Type.Optional(Type.Array(Type.String())),
  query: Type.Optional(templates()),
  headers: Type.Optional(templates()),
  body: Type.Optional(json()),
  body_type: Type.Optional(
    Type.Enum(['json', 'text', 'form', 'file', 'multipart', 'related'], { type: 'string' }),
  ),
});

/** Which row of a table is meant, and what goes into it. */
const table = closed({
  /** The names of the columns, read from the lookup's response. */
  header: text(),
  /** The rows below them, and the number of the first; only needed to find one. */
  rows: Type.Optional(text()),
  first_row: Type.Optional(Type.Integer({ minimum: 1 })),
  /** The column by which a row is found: the first one with the value that `values` has for it. */
  match: Type.Optional(text()),
  /** An object: what goes into which column. */
  values: text(),
  /** Whether values without a column are left out. Otherwise, they are refused. */
  ignore_unknown: Type.Optional(text()),
});
export type TableRow = Static<typeof table>;

/** What an operation reads before it does its work: one request. Whatever comes after it reads `args.found`. */
const lookup = closed({
  /** Only reads. */
  request,
  errors: Type.Optional(Type.Array(errorRule)),
  /** What is taken from the response; or, with `table`, `cells` in the order of the columns and the number `row`, null if there is none. */
  found: Type.Optional(json()),
  table: Type.Optional(table),
  /** Without it, nothing is done, and the operation fails. */
  needed: Type.Optional(text()),
  /** The request that is sent instead of the operation's where this is true. */
  instead: Type.Optional(closed({ when: text(), request })),
});
export type Lookup = Static<typeof lookup>;

/** No more is read into one request. */
const MAX_CONTENT_BYTES = 10_000_000;

/** Files whose content becomes a part of texts or JSON. The request reads `args.files`. */
const contents = closed({
  /** A file, or a list of them. */
  of: text(),
  /** What the service takes together. */
  max_bytes: Type.Integer({ minimum: 1, maximum: MAX_CONTENT_BYTES }),
  /** `base64_lines`: in lines of 76 characters, as e-mails have it. */
  encoding: Type.Enum(['base64', 'base64_lines'], { type: 'string' }),
  /** What becomes of each; reads `args.item`: `name`, `type`, `size` and `content`. */
  each: json(),
});
export type FileContents = Static<typeof contents>;

/** Settings, as JSON Schema with `title` and `description`. The default is what is empty, unless there is one. */
const settings = Type.Record(Type.String(), Type.Unsafe<JsonSchema>({ type: 'object' }));
/** Settings in sections that can be closed; the others are always visible. */
const sections = Type.Array(closed({ title: text(), fields: Type.Array(Type.String(), { minItems: 1 }) }));

const operation = closed({
  id: name(),
  /** Of an operation that replaces another one of this id. Default 1. */
  version: Type.Optional(Type.Integer({ minimum: 2, maximum: 99 })),
  /** A newer version exists: workflows that have this one keep it, the palette doesn't offer it. */
  replaced: Type.Optional(Type.Literal(true)),
  title: text(),
  description: text(),
  synonyms: Type.Optional(words()),
  /** Changes something at the service; not sent in test mode. */
  effect: Type.Boolean(),
  /** How the service takes the same request twice; of operations with an effect only. */
  repetition: Type.Optional(Type.Enum(['harmless', 'keyed', 'unknown'], { type: 'string' })),
  /** Where the key goes that stays the same across attempts; of `keyed` ones only. */
  key: Type.Optional(
    closed({
      in: Type.Enum(['header', 'body'], { type: 'string' }),
      name: text(),
      /** `short`: 24 hexadecimal digits. */
      form: Type.Enum(['text', 'uuid', 'short'], { type: 'string' }),
    }),
  ),
  settings,
  required: Type.Array(Type.String()),
  sections: Type.Optional(sections),
  lookup: Type.Optional(lookup),
  files: Type.Optional(contents),
  request,
  /** `file`: the answer is stored as one. `xml`: it is read as `data.xml` does, without attributes and prefixes. Default `json`. */
  response: Type.Optional(Type.Enum(['json', 'file', 'xml'], { type: 'string' })),
  /** Elements of an XML answer that are lists even if there is only one. */
  xml_lists: Type.Optional(Type.Array(text(), { maxItems: 20 })),
  /** A file within the answer, in base64 of either alphabet. It is stored, and `output` reads it as `args.stored`. */
  stores: Type.Optional(closed({ base64: text(), name: text() })),
  /** What becomes of the answer; of operations without pages. */
  output: Type.Optional(json()),
  pagination: Type.Optional(pagination),
  errors: Type.Optional(Type.Array(errorRule)),
  exchanges: Type.Array(exchange, { minItems: 1, maxItems: 20 }),
});
export type Operation = Static<typeof operation>;

const cursor = closed({
  /**
   * - `time`: requests read `args.since`, the time of the last complete poll; null for everything there is.
   * - `value`: requests read `args.cursor`, as `next` left it; null for the first poll.
   */
  type: Type.Enum(['time', 'value'], { type: 'string' }),
  /** Seconds that `args.since` lies before the last poll, for what the service lists late. Default 300. */
  overlap_s: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
  /**
   * Of a `time`: when an item appeared, in ISO 8601 or in seconds since the epoch. Items from before `args.since` are left out; where the newest
   * is listed first, no further page is asked for.
   */
  item_time: Type.Optional(text()),
  /** Of a `value`: what the next poll reads. May read `args.items` and the last response. What is empty keeps the cursor. */
  next: Type.Optional(text()),
});

const pollExchange = closed({
  title: text(),
  config: Type.Unsafe<JsonObject>({ type: 'object' }),
  /** When the poll begins, and what the one before left; null: this is the first. */
  now: text(),
  position: json(),
  steps: Type.Array(exchangeStep, { minItems: 1, maxItems: 10 }),
  /** What is found, in the order of starts, after details were read. */
  items: Type.Optional(Type.Array(closed({ id: text(), data: json() }))),
  /** What the next poll gets. */
  next: Type.Optional(json()),
  failure: Type.Optional(text()),
});
export type PollExchange = Static<typeof pollExchange>;

const trigger = closed({
  id: name(),
  version: Type.Optional(Type.Integer({ minimum: 2, maximum: 99 })),
  replaced: Type.Optional(Type.Literal(true)),
  title: text(),
  description: text(),
  synonyms: Type.Optional(words()),
  settings,
  required: Type.Array(Type.String()),
  sections: Type.Optional(sections),
  /** Lists the items. Only reads. Its templates may also read `args.since`, `args.since_s`, `args.cursor` and `args.now`. */
  request,
  /** The list in a response without pages. */
  items: Type.Optional(text()),
  /** Of such a response: whether the list is longer than what it shows. */
  more: Type.Optional(text()),
  pagination: Type.Optional(pagination),
  /** The items are rows: each becomes an object by this list of names, with `row_number`, which begins here. */
  table: Type.Optional(closed({ header: text(), first_row: Type.Integer({ minimum: 1 }) })),
  /** As the service lists them. Executions start with the oldest. */
  order: Type.Enum(['oldest_first', 'newest_first', 'unordered'], { type: 'string' }),
  /** Without one, every poll lists the same. */
  cursor: Type.Optional(cursor),
  /** Which items count, read from `args.item`. */
  when: Type.Optional(text()),
  /** What tells an item apart, read from `args.item`. */
  id_of: text(),
  /** What becomes `trigger.data`, read from `args.item`. Default: the item. */
  data: Type.Optional(json()),
  /** Reads more about each new item, by `args.item`. `output` also reads the response. */
  detail: Type.Optional(closed({ request, output: json() })),
  errors: Type.Optional(Type.Array(errorRule)),
  exchanges: Type.Array(pollExchange, { minItems: 1, maxItems: 20 }),
});
export type ConnectorTrigger = Static<typeof trigger>;

/** What a request is made of and how its response is read: an operation, or a trigger's list or detail. */
export type Asked = Pick<
  Operation,
  'request' | 'effect' | 'repetition' | 'key' | 'errors' | 'response' | 'xml_lists'
>;

/** What is listed by an operation, which changes nothing. */
const listSource = {
  operation: name(),
  /** Of the operation. Templates read `args.<setting>`, settings of the node whose list it is, which have to be filled in. */
  settings: Type.Optional(Type.Unsafe<JsonObject>({ type: 'object' })),
  /** The list in the output of an operation without pages, read from `args.output`. Default: its `items`. */
  items: Type.Optional(text()),
};
const groups = closed({ ...listSource, label: text() });
const list = closed({
  id: name(),
  ...listSource,
  /** Settings to try instead where the service refuses: what some credentials may list, others may not. */
  fallback: Type.Optional(Type.Unsafe<JsonObject>({ type: 'object' })),
  /** Another list; this one is asked for each of its items, which are `args.group` in `settings`. Its label reads `args.item`. */
  groups: Type.Optional(groups),
  /** Which items count, read from `args.item`. */
  when: Type.Optional(text()),
  /** What the setting takes, and what people see of it, read from `args.item`. */
  value: text(),
  label: text(),
});
export type ConnectorList = Static<typeof list>;
export type ListSource = Pick<ConnectorList, 'operation' | 'settings' | 'items'>;

/** What the service wants in a credential, by its type: a new one begins with it. */
const newCredential = closed({
  header: Type.Optional(closed({ name: headerName() })),
  query: Type.Optional(closed({ name: text() })),
  oauth2: Type.Optional(
    closed({
      /** One that the form knows; it fills in what is missing here. */
      service: Type.Optional(name()),
      scope: Type.Optional(text()),
      authorization_url: Type.Optional(Type.String({ pattern: '^https?://' })),
      token_url: Type.Optional(Type.String({ pattern: '^https?://' })),
      client_authentication: Type.Optional(Type.Enum(['body', 'basic'], { type: 'string' })),
      authorization_parameters: Type.Optional(text()),
      /** The header that carries the token by itself, instead of `Authorization: Bearer`. */
      token_header: Type.Optional(headerName()),
    }),
  ),
  google_service_account: Type.Optional(closed({ scope: text() })),
  aws: Type.Optional(closed({ service: text() })),
});

/** The members of a connector's file. */
const members = {
  id: name(),
  title: text(),
  icon: Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' }),
  synonyms: words(),
  /** Where the service describes its operations, and the day on which the file was written. */
  reference: Type.String({ pattern: '^https://' }),
  written_on: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  /** A description by the service or its clients with which all that it asks was compared by `tools/connector-description.ts`. */
  compared: Type.Optional(
    closed({
      with: Type.String({ pattern: '^https://' }),
      /** Of the description: what the service calls it, its commit, or its day. */
      version: text(),
      /** Operations that it doesn't have. */
      except: Type.Optional(Type.Array(Type.String())),
    }),
  ),
  /** Instead of `compared`: why it was not. */
  uncompared: Type.Optional(text()),
  /** Without a slash at its end. May have one template: a label of the host's name. */
  base_url: address(),
  /** Where requests go instead if a setting is filled in, which is one segment of the path. */
  other_address: Type.Optional(closed({ setting: name(), base_url: address() })),
  /** The template in the address may be several labels. */
  several_labels: Type.Optional(Type.Literal(true)),
  /** Hosts that requests may go to: names, or `*.` before one. `*`: any that the credential is bound to; only where the template is the whole host. */
  hosts: Type.Array(text(), { minItems: 1, maxItems: 20 }),
  authentication: closed({
    /** Empty where an organisation's own file has no `authentication`. */
    types: Type.Array(Type.Enum([...HTTP_CREDENTIAL_TYPES, 'chat'], { type: 'string' })),
    /** Of a chat credential: its service, and where its token goes: behind this, before the path. */
    chat: Type.Optional(
      closed({
        service: Type.Enum([...CHAT_SERVICES], { type: 'string' }),
        before: Type.String({ pattern: '^/[a-z]*$' }),
        /** What a token looks like. */
        form: Type.String({ pattern: '^\\^.*\\$$' }),
      }),
    ),
    /** What the setting says about the credential. */
    description: text(),
    new_credential: Type.Optional(newCredential),
  }),
  /** Of every request. */
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** Why the service refused something, read from its answer. */
  reason: text(),
  errors: Type.Optional(Type.Array(errorRule)),
  /** Values that settings can take, as the service lists them: a setting names one by `x-list`. */
  lists: Type.Optional(Type.Array(list, { minItems: 1, maxItems: 20 })),
  operations: Type.Array(operation, { minItems: 1, maxItems: 100 }),
  /** What starts workflows, by polling. */
  triggers: Type.Optional(Type.Array(trigger, { minItems: 1, maxItems: 20 })),
  /** Japanese texts by their English ones. */
  ja: Type.Record(Type.String(), text()),
};

/** The schema of a connector's file. */
export const connectorSchema = closed(members);

/** A service's operations, as described by a file. */
export type Connector = Static<typeof connectorSchema> & {
  /** An organisation has uploaded it. Not part of the file. */
  readonly own?: true;
};

const ownOperation = closed({
  ...operation.properties,
  exchanges: Type.Optional(Type.Array(exchange, { maxItems: 20 })),
});
const ownTrigger = closed({
  ...trigger.properties,
  exchanges: Type.Optional(Type.Array(pollExchange, { maxItems: 20 })),
});
const { compared: _compared, uncompared: _uncompared, ...ownMembers } = members;

/** The schema of a file that an organisation uploads: nobody translates it, and the service has no tests to replay its exchanges. */
export const ownConnectorSchema = closed({
  ...ownMembers,
  icon: Type.Optional(members.icon),
  synonyms: Type.Optional(members.synonyms),
  reference: Type.Optional(members.reference),
  written_on: Type.Optional(members.written_on),
  ja: Type.Optional(members.ja),
  /** Without it, the service takes requests without a credential. */
  authentication: Type.Optional(members.authentication),
  operations: Type.Array(ownOperation, { maxItems: 100 }),
  triggers: Type.Optional(Type.Array(ownTrigger, { maxItems: 20 })),
});
export type OwnConnectorFile = Static<typeof ownConnectorSchema>;
