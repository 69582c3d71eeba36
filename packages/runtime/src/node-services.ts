import type { HostWait, JsonValue, NodeContext, NodeRegistry, NodeServices } from '@millrace/engine';
import type { OutgoingTrace } from './tracing/outgoing.ts';

/** The attempt of a node that a service acts for. */
export interface Caller {
  readonly organisationId: number;
  readonly workflowId: number;
  readonly executionId: number;
  readonly nodeId: string;
  readonly iteration: readonly number[];
  /** Attempts of the enclosing loops, outermost first; absent while each is at its first. */
  readonly loopAttempts?: readonly number[];
  /** Stable across attempts and take-overs. */
  readonly idempotencyKey: string;
  readonly isTestMode: boolean;
  /** The types of its workflow; absent: the common ones. */
  readonly types?: NodeRegistry;
  /** It runs inside another node; absent if it doesn't. */
  readonly isTool?: boolean;
  /** Its span; absent without tracing. */
  readonly trace?: OutgoingTrace;
  /** For a call that is about to be made; absent: it waits for its turn without a limit. */
  readonly waitForHost?: () => HostWait;
  /** Called with every secret string passed to the node, so that it can be masked in the node's output. */
  readonly onSecret: (secret: string) => void;
  /** Masks those secrets in what the node shows to others before it has ended; absent: there are none. */
  readonly mask?: (value: JsonValue) => JsonValue | Promise<JsonValue>;
}

/** The engine's NodeServices, each as a factory for a caller; one set for all runs of a process. */
export type Services = {
  readonly [Name in keyof NodeServices]: (caller: Caller, context: NodeContext) => NodeServices[Name];
} & {
  /** Releases their resources: threads. */
  close(): Promise<void>;
};

const NAMES: { readonly [Name in keyof NodeServices]: true } = {
  credentials: true,
  mail: true,
  sql: true,
  redis: true,
  mongodb: true,
  kafka: true,
  ai: true,
  code: true,
  documents: true,
  data: true,
  memory: true,
  vectors: true,
  workflows: true,
  callbacks: true,
  tools: true,
  files: true,
  contents: true,
};
export const SERVICE_NAMES = Object.keys(NAMES) as (keyof NodeServices)[];

/**
 * The services of one attempt, each created on first use, as most nodes need none.
 * @param context what the node sees; tools see it, too, apart from its config and services
 */
export function servicesFor(services: Services, caller: Caller, context: () => NodeContext): NodeServices {
  const made = new Map<string, unknown>();
  const getters = SERVICE_NAMES.map((name) => {
    const get = (): unknown => {
      if (!made.has(name)) made.set(name, services[name](caller, context()));
      return made.get(name);
    };
    return [name, { get, enumerable: true, configurable: true }] as const;
  });
  return Object.defineProperties({}, Object.fromEntries(getters)) as NodeServices;
}
