import type { Message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
import type { JsonObject, JsonValue } from '@millrace/values/json';
import type { AiService } from './ai-service.ts';
import type { CredentialOf, CredentialService } from './credentials.ts';
import type { ExecutionError, ExecutionStatus } from './execution.ts';
import type { ContentTask } from './file-contents.ts';
import type { FileValue } from './file-value.ts';
import type { MemoryService } from './memory-service.ts';
import type { LogLine, NodeResult } from './node-result.ts';
import type { VectorService } from './vector-service.ts';

/**
 * Services available to nodes besides HTTP, as ports: the catalogue depends on these, the server implements them, tests use fakes. Every
 * method may throw {@link ServiceError}; anything else that is thrown is a defect.
 */
export interface NodeServices {
  readonly credentials: CredentialService;
  readonly mail: MailService;
  readonly sql: SqlService;
  readonly redis: RedisService;
  readonly mongodb: MongoService;
  readonly kafka: KafkaService;
  readonly ai: AiService;
  readonly code: CodeService;
  readonly documents: DocumentService;
  readonly data: DataService;
  readonly memory: MemoryService;
  readonly vectors: VectorService;
  readonly workflows: WorkflowService;
  readonly callbacks: CallbackService;
  readonly tools: ToolService;
  readonly files: FileService;
  readonly contents: ContentService;
}

/** A file that can be read, as often as needed. */
export interface OpenFile {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
  /**
   * @param range a part of it, both ends included
   * @throws ServiceError while it is read: file_missing, file_store_unavailable
   */
  read(range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
}

export interface FileService {
  /**
   * A file of the execution.
   * @param value the whole value of a file; only its id counts
   * @throws ServiceError invalid_config for any other value; file_not_found if the execution doesn't have it
   */
  open(value: JsonValue): Promise<OpenFile>;
  /**
   * Stores a file while it arrives; the execution has it from then on.
   * @throws ServiceError file_too_large, storage_full, file_store_full, file_store_unavailable; what the content throws
   */
  save(
    file: { readonly name: string; readonly type: string },
    content: AsyncIterable<Uint8Array>,
  ): Promise<FileValue>;
}

export interface ContentService {
  /**
   * Works on files outside the main thread, which passes their bytes on piece by piece.
   * @param order.save stores a file that the work makes
   * @throws ServiceError invalid_data, invalid_config, document_too_complex, document_timeout, document_memory, document_output_too_large; what
   * reading and saving throw
   */
  work(
    order: {
      readonly task: ContentTask;
      readonly inputs: readonly OpenFile[];
      readonly save: FileService['save'];
      readonly timeoutMs: number;
    },
    signal: AbortSignal,
  ): Promise<JsonObject>;
}

/** A service couldn't do what was requested. */
export class ServiceError extends ExplainedError {
  override readonly name = 'ServiceError';
  /** Stable, snake_case. */
  readonly code: string;
  /** Whether another attempt could succeed. */
  readonly retryable: boolean;
  /** The earliest useful next attempt according to the remote side, in milliseconds from now. */
  readonly retryAfterMs: number | undefined;
  /** Tokens that were consumed before it failed. */
  readonly consumedAiTokens: number;
  /** Details worth keeping although it failed. */
  readonly details: JsonObject | undefined;

  constructor(
    code: string,
    explanation: Message,
    options: {
      retryable?: boolean;
      retryAfterMs?: number;
      consumedAiTokens?: number;
      details?: JsonObject;
      cause?: unknown;
    } = {},
  ) {
    super(explanation, options);
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.consumedAiTokens = options.consumedAiTokens ?? 0;
    this.details = options.details;
  }
}

export interface MailMessage {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly replyTo: string | null;
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly headers: { readonly [name: string]: string };
  readonly attachments: readonly {
    readonly filename: string;
    readonly contentType: string;
    readonly content: Uint8Array;
  }[];
  /** Stable across attempts, so that a receiver can drop duplicates. */
  readonly messageId: string;
}

/** Where mails are submitted, and as whom: with a password, with a token of OAuth 2.0 (XOAUTH2), or without signing in. */
export type MailServer = Omit<CredentialOf<'smtp'>, 'type'> & { readonly accessToken?: string };

export interface MailService {
  /** Submits the message to an SMTP server. @throws ServiceError mail_* */
  send(
    server: MailServer,
    message: MailMessage,
    signal: AbortSignal,
  ): Promise<{
    readonly accepted: readonly string[];
    readonly rejected: readonly string[];
    readonly response: string;
  }>;
}

export interface SqlQuery {
  readonly sql: string;
  /** Bound by the driver; never inserted into the text. */
  readonly parameters: readonly JsonValue[];
  /** The statement runs in a read-only transaction. */
  readonly readOnly: boolean;
  /** Further rows aren't read; the result reports that. */
  readonly maxRows: number;
  readonly timeoutMs: number;
}

export interface SqlService {
  /** @throws ServiceError sql_* */
  query(
    credential: CredentialOf<'sql'>,
    query: SqlQuery,
    signal: AbortSignal,
  ): Promise<{
    readonly rows: readonly JsonObject[];
    /** Rows affected by a write, or read. */
    readonly rowCount: number;
    /** MySQL's AUTO_INCREMENT value for the first row of an INSERT; absent when there is none. */
    readonly insertId?: JsonValue;
    readonly isTruncated: boolean;
    /** Rows of the results after the first one. */
    readonly furtherResults?: readonly (readonly JsonObject[])[];
  }>;
}

/** What is sent to Redis. */
export interface RedisOrder {
  /** Names and arguments, sent one after the other as they are. */
  readonly commands: readonly (readonly string[])[];
  /** Instead of commands: keys that match a pattern. The reply is `{ keys, is_truncated }`. */
  readonly scan?: { readonly match: string; readonly limit: number };
  readonly isReadOnly: boolean;
  readonly timeoutMs: number;
}

export interface RedisService {
  /**
   * @returns the server's replies in order; texts that aren't UTF-8 as `{ base64 }`
   * @throws ServiceError db_*
   */
  run(
    credential: CredentialOf<'redis'>,
    order: RedisOrder,
    signal: AbortSignal,
  ): Promise<readonly JsonValue[]>;
}

/** Messages for a topic of Kafka. */
export interface KafkaOrder {
  readonly topic: string;
  readonly messages: readonly {
    readonly key: string | null;
    readonly value: string | null;
    readonly headers: { readonly [name: string]: string };
    /** Null: chosen by the key. */
    readonly partition: number | null;
  }[];
  readonly timeoutMs: number;
}

export interface KafkaService {
  /** @returns the position of each message. @throws ServiceError kafka_*; kafka_outcome_unknown if some may have been stored */
  send(
    credential: CredentialOf<'kafka'>,
    order: KafkaOrder,
    signal: AbortSignal,
  ): Promise<readonly { readonly partition: number; readonly offset: number }[]>;
}

/** What is asked of MongoDB. Values are extended JSON: `{"$oid": "..."}` is an id, `{"$date": "..."}` a moment. */
export interface MongoOrder {
  readonly collection: string;
  readonly command:
    | {
        readonly kind: 'find';
        readonly filter: JsonObject;
        readonly projection: JsonObject;
        readonly sort: JsonObject;
        readonly skip: number;
        readonly limit: number;
      }
    | { readonly kind: 'aggregate'; readonly pipeline: readonly JsonObject[]; readonly limit: number }
    | { readonly kind: 'count'; readonly filter: JsonObject }
    | { readonly kind: 'insert'; readonly documents: readonly JsonObject[] }
    | {
        readonly kind: 'update';
        readonly filter: JsonObject;
        readonly update: JsonObject;
        readonly isMany: boolean;
        readonly isUpsert: boolean;
      }
    | { readonly kind: 'delete'; readonly filter: JsonObject; readonly isMany: boolean };
  readonly readOnly: boolean;
  readonly timeoutMs: number;
}

export interface MongoService {
  /**
   * @returns `{ documents, is_truncated }`, `{ count }`, `{ inserted, ids }`, `{ matched, modified, upserted_id }` or `{ deleted }`
   * @throws ServiceError db_*
   */
  run(credential: CredentialOf<'sql'>, order: MongoOrder, signal: AbortSignal): Promise<JsonObject>;
}

export type CodeLanguage = 'javascript' | 'python';

export interface CodeService {
  /**
   * Runs JavaScript or Python in a sandbox without access to the host.
   * @throws ServiceError code_error, code_timeout, code_memory, code_output_too_large, code_unavailable; `details.log` contains what was logged
   */
  run(
    code: {
      readonly language: CodeLanguage;
      /** The body of a function with the parameter `input`; in JavaScript, an async one. */
      readonly source: string;
      readonly input: JsonValue;
      readonly timeoutMs: number;
      readonly memoryBytes: number;
    },
    signal: AbortSignal,
  ): Promise<{ readonly value: JsonValue; readonly log: readonly LogLine[] }>;
}

/** What is read from a page by a CSS selector. */
export interface HtmlField {
  readonly name: string;
  /** Empty: the element that the fields are read from. */
  readonly selector: string;
  /** `fields`: an object of the fields inside the element. */
  readonly value: 'text' | 'html' | 'attribute' | 'fields';
  readonly attribute: string;
  /** A list of all matches; otherwise the first one, or null. */
  readonly all: boolean;
  readonly fields: readonly HtmlField[];
}

/** How XML maps to values and back. */
export interface XmlNames {
  /** Prefix of attribute names. */
  readonly attributePrefix: string;
  /** The member for the text of an element that has attributes or children. */
  readonly textName: string;
}

/** A conversion of the text of a document. */
export type Conversion =
  | { readonly kind: 'html_fields'; readonly fields: readonly HtmlField[]; readonly baseUrl: string | null }
  | { readonly kind: 'html_text'; readonly selector: string }
  | { readonly kind: 'html_to_markdown'; readonly selector: string; readonly baseUrl: string | null }
  /** @param rawHtml passes on HTML in the text, and links of any kind; only for the author's own text */
  | { readonly kind: 'markdown_to_html'; readonly rawHtml: boolean; readonly lineBreaks: boolean }
  | {
      readonly kind: 'xml_to_value';
      readonly names: XmlNames;
      readonly keepAttributes: boolean;
      /** Whether namespace prefixes are dropped. */
      readonly localNames: boolean;
      /** Names of elements that are lists even if there is only one. */
      readonly lists: readonly string[];
    }
  /** The text is the JSON text of the value. */
  | {
      readonly kind: 'value_to_xml';
      readonly names: XmlNames;
      readonly root: string;
      readonly declaration: boolean;
      readonly indent: boolean;
    }
  /** RSS, Atom or JSON Feed. */
  | { readonly kind: 'feed'; readonly baseUrl: string | null; readonly limit: number };

export interface DocumentService {
  /**
   * Converts a document outside the main thread. Nothing that it refers to is fetched: no URLs, no entities.
   * @throws ServiceError invalid_data, invalid_config, document_too_complex, document_timeout, document_memory, output_too_large
   */
  convert(
    document: { readonly text: string; readonly conversion: Conversion; readonly timeoutMs: number },
    signal: AbortSignal,
  ): Promise<JsonValue>;
}

export interface DataEntry {
  readonly key: string;
  readonly value: JsonValue;
  /** Epoch milliseconds; null for never. */
  readonly expiresAtMs: number | null;
}

/** The organisation's small key-value table. Every write happens once per idempotency key of the node. */
export interface DataService {
  get(key: string): Promise<DataEntry | null>;
  /** @param ifAbsent nothing is changed when the key exists. @returns the current entry, and whether it was written */
  set(
    key: string,
    value: JsonValue,
    options: { readonly ttlMs: number | null; readonly ifAbsent: boolean },
  ): Promise<{ readonly entry: DataEntry; readonly isWritten: boolean }>;
  /** Adds to a number, 0 when absent, atomically. @throws ServiceError data_not_a_number */
  increment(key: string, by: number, options: { readonly ttlMs: number | null }): Promise<DataEntry>;
  /** @returns whether it existed */
  delete(key: string): Promise<boolean>;
  /** Entries whose key starts with the prefix, by key. */
  list(prefix: string, limit: number): Promise<readonly DataEntry[]>;
}

/** The state of another execution. */
export interface ChildResult {
  readonly executionId: number;
  readonly status: ExecutionStatus;
  /** The output of `core.stop`, else the outputs of the final nodes. */
  readonly output: JsonObject;
  readonly error: ExecutionError | null;
  /** Including what its own children consumed. */
  readonly consumedAiTokens: number;
}

export interface WorkflowService {
  /**
   * Starts another workflow of the organisation as a child of this execution: once per `callKey` of a node and iteration, however often it
   * is called.
   * @param order.waits whether this execution waits for the child: then the node gets a signal when the child ends, and the child is
   * cancelled with its parent
   * @throws ServiceError workflow_not_found, workflow_inactive, workflow_archived, invalid_input, recursion_limit
   */
  start(order: {
    readonly workflowId: number;
    readonly input: JsonValue;
    readonly waits: boolean;
    readonly callKey: string;
  }): Promise<{ readonly executionId: number; readonly workflowVersion: number }>;
  /** The state of a child of this execution. */
  result(executionId: number): Promise<ChildResult>;
  /** Waits for a child to end without releasing the worker. */
  ended(executionId: number, signal: AbortSignal): Promise<ChildResult>;
}

export interface CallbackService {
  /**
   * A one-time URL that sends this node its signal. The same for every attempt of the node and iteration. Only the hash of its token is
   * stored.
   */
  createCallback(options: { readonly expiresAtMs: number }): Promise<{ readonly url: string }>;
  /** Requests a decision from a person: creates the pages for it; the decision is the node's signal. */
  createApproval(options: {
    readonly expiresAtMs: number;
    readonly title: string;
    readonly text: string;
    /** Labels of the choices; their ids are the node's handles. */
    readonly choices: readonly { readonly id: string; readonly label: string }[];
    /** Fields to fill in with the decision, as JSON; absent for none. */
    readonly fields?: readonly JsonObject[];
    /** Which of the node's questions this is, if it asks several, one after the other: the signal names it as well. */
    readonly question?: string;
  }): Promise<{
    /** The page that shows the request and all choices. */
    readonly url: string;
    /** By choice: the same page with that choice preselected. */
    readonly choiceUrls: { readonly [choiceId: string]: string };
  }>;
}

export interface ToolService {
  /**
   * Runs another node of the catalogue within this one, with a rendered config. Triggers, loops and nodes that wait are refused.
   * @param order.callKey distinguishes calls of one node; part of the inner node's idempotency key
   * @param order.aiTokensLeft the inner node's share of the outer node's budgets, null without one; absent: everything the outer node has
   * left
   */
  run(order: {
    readonly type: string;
    readonly config: JsonObject;
    readonly callKey: string;
    readonly aiTokensLeft?: number | null;
  }): Promise<Exclude<NodeResult, { kind: 'wait' | 'await_signal' | 'again' | 'stop' }>>;
}
