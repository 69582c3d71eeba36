import type { Message } from '@millrace/messages';
import type { JsonObject, JsonSchema, JsonValue } from '@millrace/values/json';
import type { Meter, Work } from '@millrace/values/work';
import type { AiAnswer } from './ai-service.ts';
import type { Credential } from './credentials.ts';
import type { HttpClient, HttpResponse } from './http.ts';
import type { ListeningDefinition } from './listening.ts';
import type { Failure, NodeResult } from './node-result.ts';
import type { RetryPolicy } from './retry.ts';
import type { NodeServices, OpenFile } from './services.ts';

/**
 * What a node's type guarantees about running it again.
 * - `trigger`: where an execution starts; its output is made from the trigger's data, it never runs code of its own.
 * - `pure`: same config and inputs, same result; recomputed after a crash instead of being checkpointed.
 * - `effect`: has external effects or waits; its result is checkpointed before anything that depends on it starts.
 * - `loop`: a container whose body is the nodes with its id as `parentId`; the engine runs it, it has no `run` of its own.
 */
export type NodeKind = 'trigger' | 'pure' | 'effect' | 'loop';

/** One runnable example of a node: shown in the node reference and run by the generic catalogue test. */
export interface NodeExample {
  readonly title: string;
  readonly config: JsonObject;
  /** Outputs of the preceding nodes, by node id. */
  readonly inputs?: { readonly [nodeId: string]: JsonObject };
  readonly trigger?: JsonValue;
  /** Responses of the fake HTTP client, in order. */
  readonly http?: readonly HttpResponse[];
  /** The content of the credential it names. */
  readonly credential?: Credential;
  /** Rows returned by its SQL query. */
  readonly sqlRows?: readonly JsonObject[];
  /** Redis' replies, one per command. */
  readonly redis?: readonly JsonValue[];
  /** MongoDB's reply. */
  readonly mongodb?: JsonObject;
  /** Responses of the fake model, in order. */
  readonly ai?: readonly AiAnswer[];
  readonly expect:
    | {
        readonly output: JsonObject;
        readonly handles?: readonly string[];
        readonly consumedAiTokens?: number;
      }
    | { readonly failure: { readonly code: string } }
    | { readonly waitMs: number; readonly output: JsonObject }
    /** It waits for a signal; `output` is shown meanwhile. */
    | { readonly awaitsSignal: true; readonly output: JsonObject }
    /** It completes the execution. */
    | { readonly stops: true; readonly output: JsonObject };
}

/** Ends the wait of a node that asked for a signal with {@link awaitSignal}. */
export type NodeSignal =
  | { readonly kind: 'signal'; readonly payload: JsonValue }
  /** The node's time limit for the wait has passed. */
  | { readonly kind: 'timeout' };

/** Everything a running node has access to. */
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
  /** The ids in `inputs` in the order of the edges, which an object doesn't keep for ids such as `10`. */
  readonly inputOrder: readonly string[];
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The output the previous, failed attempt left; null for the first. */
  readonly previousOutput: JsonObject | null;
  /** Index of the iteration of each loop around the node, outermost first; empty outside of loops. */
  readonly iteration: readonly number[];
  /** Stable across attempts and takeovers: execution, node and iteration. */
  readonly idempotencyKey: string;
  /** The remainder of the execution's `token_budget`; null without one. */
  readonly aiTokensLeft: number | null;
  /** IANA name of the workflow's time zone, the default for showing moments; null: UTC. */
  readonly timezone: string | null;
  /** Renders members listed in the definition's `deferred`, with `{{args.<name>}}` in addition to what the node can read. */
  render(template: JsonValue, args: JsonObject): JsonValue;
  /** Aborted on cancellation, timeout, lost lease and shutdown. */
  readonly signal: AbortSignal;
  readonly http: HttpClient;
  /**
   * Does work on data of any size in pieces, in turn with all other work of the process. Its steps count as the node's.
   * @throws what the work throws, or when it takes too many steps
   */
  inTurns<Result>(make: (meter: Meter) => Work<Result>): Promise<Result>;
  /**
   * The whole content of a file, for what takes no stream. Waits for room in the memory that all executions of the process share; the room is kept
   * until the node ends.
   * @throws ServiceError as {@link OpenFile.read}; an error if the signal aborts meanwhile
   */
  readWhole(file: OpenFile): Promise<Uint8Array>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * When the templates of a config member are rendered, if not at the node's start.
 * - `iteration`: after each iteration of a loop; they may read the nodes of its body, `item` and `index`.
 * - `end`: when the execution has ended; they may read every node.
 * - `arguments`: by the node itself with {@link NodeContext.render}; they may read `args` in addition to what the node may.
 */
export type DeferredUntil = 'iteration' | 'end' | 'arguments';

/** How the engine runs a node of kind `loop`. */
export interface LoopDefinition {
  /**
   * Reads the rendered config. `items` null: it repeats until {@link isDone} or `maxIterations`.
   * @returns a failure of the loop node when the config can't be used
   */
  begin(config: JsonObject):
    | {
        readonly items: readonly JsonValue[] | null;
        readonly maxIterations: number;
        /** Maximum number of concurrent iterations. */
        readonly concurrency: number;
        /** `collect`: a failed iteration is listed in `errors`, and the others continue. */
        readonly onItemError: 'fail' | 'collect';
        /** When `maxIterations` is reached before it is done; only without items. Default `fail`. */
        readonly onLimit?: 'fail' | 'continue';
      }
    | Failure;
  /** Called after each iteration of a loop without items, with the members deferred to `iteration` rendered. */
  isDone?(config: JsonObject): boolean | Work<boolean>;
}

/** A fault of a config that matches its schema. `pointer` is a JSON Pointer into the config. */
export interface ConfigFault {
  readonly pointer: string;
  /** Follows the member's name: lower case, no full stop. */
  readonly message: Message;
  /** For a gap other than a missing value. Default: `empty_config`. */
  readonly code?: string;
}

/** Something a polling trigger found; it starts one execution. */
export interface PolledItem {
  /** Tells it apart from everything else this trigger finds, however often it is found again. */
  readonly id: string;
  /** `trigger.data` of its execution. */
  readonly data: JsonValue;
}

/** What a poll has found, or why it couldn't. */
export type PollResult =
  | {
      readonly kind: 'polled';
      /** In the order in which their executions start. */
      readonly items: readonly PolledItem[];
      /** Where the next poll continues. Stored together with the starts, once every item has been started. */
      readonly position: JsonValue;
    }
  | Failure;

/** What a poll has access to. There is no execution yet, so nothing that belongs to one. */
export interface PollContext<Config = JsonObject>
  extends Pick<NodeContext, 'credentials' | 'documents' | 'files' | 'http' | 'inTurns' | 'signal' | 'now'> {
  /** The trigger's config; it can't contain templates. */
  readonly config: Config;
  /** As the last poll left it; null for the first one. */
  readonly position: JsonValue;
  /** Whether nothing was polled since the workflow became active or its trigger was changed. */
  readonly isFirst: boolean;
  /** In test mode, nothing is changed where the items come from. */
  readonly isTestMode: boolean;
}

/** How a trigger polls for items. */
export interface PollingDefinition<Config = JsonObject> {
  /** Lists the current items. Must only read: it is repeated after a crash. */
  poll(context: PollContext<Config>): Promise<PollResult>;
  /**
   * Reads details of items that are about to start, if the list lacks them. Must only read.
   * @returns those that should start; the others are recorded without a start
   */
  complete?(
    context: PollContext<Config>,
    items: readonly PolledItem[],
  ): Promise<readonly PolledItem[] | Failure>;
  /**
   * Tells the source that items were started. Called after the start is stored, and again after a crash.
   * @returns a failure to try again later; null when done
   */
  acknowledge?(context: PollContext<Config>, ids: readonly string[]): Promise<Failure | null>;
}

/** What a node's config may depend on in its workflow. */
export interface FlowScope {
  readonly inputSchema: JsonObject | null;
}

/** One type of node, as used by the editor, the reference, validation and the worker. */
export interface NodeDefinition<Config = JsonObject> {
  /** `family.name`, never changed: stored workflows refer to it. */
  readonly type: string;
  readonly title: string;
  readonly description: string;
  /** Search synonyms, in lower case. */
  readonly synonyms?: readonly string[];
  /** Name of a Lucide icon. */
  readonly icon: string;
  readonly kind: NodeKind;
  /**
   * Schema of the rendered config; titles, descriptions and defaults make the form in the editor. Members marked with `x-filled`,
   * `x-json-schema` or `x-node-config` are checked further before a workflow is activated.
   */
  readonly configSchema: JsonSchema;
  /** Handles that edges may leave from under this (unrendered) config, besides `error`. Default: `['out']`. */
  handles?(config: JsonObject): readonly string[];
  /** Faults of an (unrendered) config that matches the schema, such as an unknown time zone. @param flow absent outside of one */
  findFaults?(config: JsonObject, flow?: FlowScope): readonly ConfigFault[];
  /**
   * Required values that are still empty, beyond the members its schema marks with `x-filled`: one of several alternatives, for example.
   * Templates that are constants of the workflow are filled in. Such a gap only prevents activation; a run with one fails in the node
   * itself.
   */
  findGaps?(config: JsonObject): readonly ConfigFault[];
  /** Milliseconds an attempt may take when the node sets no `timeout_ms`; effect nodes only. */
  readonly defaultTimeoutMs?: number;
  /** Defaults for members of `data.retry`; default: no retry. */
  readonly defaultRetry?: RetryPolicy;
  /** Top-level members of the config whose templates aren't rendered at the node's start. */
  readonly deferred?: { readonly [member: string]: DeferredUntil };
  /** Required for kind `loop`, and only allowed there. */
  readonly loop?: LoopDefinition;
  /** Set for the trigger that manual and API starts use in a workflow with several. */
  readonly isManual?: true;
  /** Distinguishes a trigger with this (unrendered) config from others of its type in the workflow; null: nothing has to. */
  addressOf?(config: JsonObject): string | null;
  /** Set for a trigger that polls. Its config has `interval_s` and `existing`. */
  readonly polling?: PollingDefinition;
  /** Set for a trigger that stays connected to its source. */
  readonly listening?: ListeningDefinition;
  readonly examples: readonly NodeExample[];
  /** Never called for triggers and loops. What takes long for large data is returned as {@link Work}. */
  run(context: NodeContext<Config>): NodeResult | Promise<NodeResult> | Work<NodeResult>;
  /**
   * Handles the signal the node asked for, or the end of its wait. May be called again after a crash, so it must not have effects.
   * @param waiting the output given to {@link awaitSignal}
   */
  resume?(
    context: NodeContext<Config>,
    signal: NodeSignal,
    waiting: JsonObject,
  ): NodeResult | Promise<NodeResult> | Work<NodeResult>;
}

/** Checks a definition's own shape at load time and converts it to the type the catalogue stores. */
export function defineNode<Config = JsonObject>(definition: NodeDefinition<Config>): NodeDefinition {
  if (!/^[a-z]+(\.[a-z][a-z0-9_]*)+$/.test(definition.type)) {
    throw new Error(`node type ${JSON.stringify(definition.type)} is not of the form family.name`);
  }
  return definition as NodeDefinition;
}

/** Finds a node's definition by its type; undefined when the catalogue has none. */
export type NodeRegistry = (type: string) => NodeDefinition | undefined;
