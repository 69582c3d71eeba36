import type { Message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
import type { JsonObject, JsonSchema, JsonValue } from './json.ts';
import type { NodeResult } from './node-result.ts';
import type { RetryPolicy } from './retry.ts';
import type { AiAnswer, Credential, NodeServices } from './services.ts';

/**
 * What a node's type promises about running it again.
 * - `trigger`: where an execution begins; its output is made from the trigger's data, it never runs code of its own.
 * - `pure`: same config and inputs, same result; recomputed after a crash instead of being checkpointed.
 * - `effect`: touches the outside or waits; its result is checkpointed before anything that depends on it starts.
 * - `loop`: a container whose body are the nodes with its id as `parentId`; the engine runs it, it has no `run` of its own.
 */
export type NodeKind = 'trigger' | 'pure' | 'effect' | 'loop';

/** One runnable example of a node: shown in the node reference and run by the generic catalogue test. */
export interface NodeExample {
  readonly title: string;
  readonly config: JsonObject;
  /** Outputs of the nodes before it, by node id. */
  readonly inputs?: { readonly [nodeId: string]: JsonObject };
  readonly trigger?: JsonValue;
  /** Answers the fake HTTP client gives, in order. */
  readonly http?: readonly HttpResponse[];
  /** What the credential that it names holds. */
  readonly credential?: Credential;
  /** Rows its SQL query is answered with. */
  readonly sqlRows?: readonly JsonObject[];
  /** Answers the fake model gives, in order. */
  readonly ai?: readonly AiAnswer[];
  readonly expect:
    | {
        readonly output: JsonObject;
        readonly handles?: readonly string[];
        readonly consumedAiTokens?: number;
      }
    | { readonly failure: { readonly code: string } }
    | { readonly waitMs: number; readonly output: JsonObject }
    /** It waits for a signal; `output` is what it shows meanwhile. */
    | { readonly awaitsSignal: true; readonly output: JsonObject }
    /** It ends the execution as completed. */
    | { readonly stops: true; readonly output: JsonObject };
}

/** A request a node makes through the guarded client. `body` is sent as it is. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
  /** Whole-exchange limit in milliseconds, redirects included. */
  readonly timeoutMs: number;
  /** The answer's body may have at most this many bytes; more is the failure `response_too_large`. */
  readonly maxResponseBytes: number;
  /** How many redirects are followed; 0 hands a 3xx answer back as it is. */
  readonly maxRedirects: number;
}

/** Header names are lower case; several values of one name are joined by `, `, save those of Set-Cookie. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  /** Several cookies, which a comma cannot join (RFC 6265, 3); one alone is among the headers. */
  readonly setCookies?: readonly string[];
  readonly body: Uint8Array;
}

/** Why a guarded request gave no answer. `target_not_allowed` is final; the others may be retried. */
export type HttpErrorCode =
  | 'invalid_url'
  | 'target_not_allowed'
  | 'too_many_redirects'
  | 'response_too_large'
  | 'timeout'
  | 'connection_failed'
  | 'aborted';

/** Thrown by {@link HttpClient.send}. */
export class HttpClientError extends ExplainedError {
  readonly code: HttpErrorCode;
  constructor(code: HttpErrorCode, explanation: Message, options?: { readonly cause?: unknown }) {
    super(explanation, options);
    this.name = 'HttpClientError';
    this.code = code;
  }
}

/** The one door to the outside for nodes. The server's implementation refuses private targets. */
export interface HttpClient {
  /** @throws HttpClientError */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
}

/** What ends the wait of a node that asked for a signal by {@link awaitSignal}. */
export type NodeSignal =
  | { readonly kind: 'signal'; readonly payload: JsonValue }
  /** The time it gave is over. */
  | { readonly kind: 'timeout' };

/** What a node sees while it runs. Nothing else of the process is its business. */
export interface NodeContext<Config = JsonObject> extends NodeServices {
  /** The node's config with every template rendered. */
  readonly config: Config;
  readonly node: { readonly id: string; readonly label: string };
  readonly execution: {
    readonly id: number;
    readonly workflowId: number;
    readonly organisationId: number;
    readonly isTestMode: boolean;
  };
  /** `trigger.data`. */
  readonly triggerData: JsonValue;
  /** Outputs of the direct predecessors whose edge was taken, by node id. */
  readonly inputs: { readonly [nodeId: string]: JsonObject };
  /** The ids in `inputs` in the order of the edges, which an object does not keep for ids such as `10`. */
  readonly inputOrder: readonly string[];
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** What the attempt before this one failed with and was worth keeping; null for the first. */
  readonly previousOutput: JsonObject | null;
  /** Index of the iteration of each loop around the node, outermost first; empty outside of loops. */
  readonly iteration: readonly number[];
  /** Stable over attempts and take-overs: execution, node and iteration. */
  readonly idempotencyKey: string;
  /** What is left of the execution's `token_budget`; null without one. */
  readonly aiTokensLeft: number | null;
  /** IANA name of the workflow's zone, in which moments are shown when the node is told none; null: UTC. */
  readonly timezone: string | null;
  /** Renders what the definition's `deferred` kept back, with `{{args.<name>}}` besides what the node can read. */
  render(template: JsonValue, args: JsonObject): JsonValue;
  /** Aborted by cancel, timeout, lost lease and shutdown. */
  readonly signal: AbortSignal;
  readonly http: HttpClient;
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * When the templates of a member of a config are rendered, if not at the node's start.
 * - `iteration`: after each iteration of a loop; they may read the nodes of its body, `item` and `index`.
 * - `end`: when the execution has ended; they may read every node.
 * - `arguments`: by the node itself with {@link NodeContext.render}; they may read `args` besides what the node may.
 */
export type DeferredUntil = 'iteration' | 'end' | 'arguments';

/** How the engine runs a node of kind `loop`. */
export interface LoopDefinition {
  /**
   * Reads the rendered config. `items` null: it repeats until {@link isDone} or `maxIterations`.
   * @returns a failure of the loop node when the config cannot be used
   */
  begin(config: JsonObject):
    | {
        readonly items: readonly JsonValue[] | null;
        readonly maxIterations: number;
        /** Iterations that run at the same time at most. */
        readonly concurrency: number;
        /** `collect`: a failed iteration is listed in `errors`, and the others go on. */
        readonly onItemError: 'fail' | 'collect';
        /** When `maxIterations` are over and it is not done; without items only. Default `fail`. */
        readonly onLimit?: 'fail' | 'continue';
      }
    | Extract<NodeResult, { kind: 'failure' }>;
  /** Asked after each iteration of a loop without items, with the members deferred to `iteration` rendered. */
  isDone?(config: JsonObject): boolean;
}

/** What is wrong with a config that fits its schema. `pointer` is a JSON Pointer into the config. */
export interface ConfigFault {
  readonly pointer: string;
  /** Goes behind the member's name: lower case, no full stop. */
  readonly message: Message;
}

/** One type of node: what the editor, the reference, validation and the worker know of it. */
export interface NodeDefinition<Config = JsonObject> {
  /** `family.name`, stable for ever: it stands in stored workflows. */
  readonly type: string;
  readonly title: string;
  readonly description: string;
  /** A Lucide icon's name. */
  readonly icon: string;
  readonly kind: NodeKind;
  /**
   * Schema of the rendered config; titles, descriptions and defaults make the form in the editor. Members marked with
   * `x-filled`, `x-json-schema` or `x-node-config` are looked at more closely before a workflow is activated.
   */
  readonly configSchema: JsonSchema;
  /** Handles that edges may leave from under this (unrendered) config, besides `error`. Default: `['out']`. */
  handles?(config: JsonObject): readonly string[];
  /** What a (unrendered) config that fits the schema still gets wrong: a time zone that does not exist, say. */
  findFaults?(config: JsonObject): readonly ConfigFault[];
  /**
   * What is left empty that the node needs, beyond the members its schema marks with `x-filled`: none of several of which
   * one must be given, say. Templates that are constants of the workflow are filled in. Such a gap forbids activation
   * and nothing else; the node itself fails when it is run with one.
   */
  findGaps?(config: JsonObject): readonly ConfigFault[];
  /** Milliseconds an attempt may take when the node sets no `timeout_ms`; effect nodes only. */
  readonly defaultTimeoutMs?: number;
  /** What holds for members of `data.retry` that are not set; default: no retry. */
  readonly defaultRetry?: RetryPolicy;
  /** Top-level members of the config whose templates are not rendered at the node's start. */
  readonly deferred?: { readonly [member: string]: DeferredUntil };
  /** With kind `loop`, and only then. */
  readonly loop?: LoopDefinition;
  readonly examples: readonly NodeExample[];
  /** Never called for triggers and loops. */
  run(context: NodeContext<Config>): NodeResult | Promise<NodeResult>;
  /**
   * What comes of the signal the node asked for, or of its wait being over. May be called again after a crash, so it
   * reads but does not act.
   * @param waiting the output given to {@link awaitSignal}
   */
  resume?(
    context: NodeContext<Config>,
    signal: NodeSignal,
    waiting: JsonObject,
  ): NodeResult | Promise<NodeResult>;
}

/** Checks a definition's own shape at load time and gives it the type the catalogue stores. */
export function defineNode<Config = JsonObject>(definition: NodeDefinition<Config>): NodeDefinition {
  if (!/^[a-z]+(\.[a-z][a-z0-9_]*)+$/.test(definition.type)) {
    throw new Error(`node type ${JSON.stringify(definition.type)} is not of the form family.name`);
  }
  return definition as unknown as NodeDefinition;
}

/** Finds a node's definition by its type; undefined when the catalogue has none. */
export type NodeRegistry = (type: string) => NodeDefinition | undefined;
