import type {
  AiService,
  CallbackService,
  CodeService,
  CredentialService,
  DataService,
  MailService,
  NodeContext,
  NodeServices,
  SqlService,
  ToolService,
  WorkflowService,
} from '@millrace/engine';

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
  /** Called with every secret string passed to the node, so that it can be masked in the node's output. */
  readonly onSecret: (secret: string) => void;
}

type For<Service> = (caller: Caller) => Service;

/** The engine's NodeServices, each as a factory for a caller; one set for all runs of a process. */
export interface Services {
  readonly credentials: For<CredentialService>;
  readonly mail: For<MailService>;
  readonly sql: For<SqlService>;
  readonly ai: For<AiService>;
  readonly code: For<CodeService>;
  readonly data: For<DataService>;
  readonly workflows: For<WorkflowService>;
  readonly callbacks: For<CallbackService>;
  /** Apart from its config and services, the inner node sees the outer one's context. */
  readonly tools: (caller: Caller, context: NodeContext) => ToolService;
  /** Releases their resources: threads. */
  close(): Promise<void>;
}

/**
 * The services of one attempt, each created on first use, as most nodes need none.
 * @param context called when tools are used
 */
export function servicesFor(services: Services, caller: Caller, context: () => NodeContext): NodeServices {
  const made: { -readonly [Name in keyof NodeServices]?: NodeServices[Name] } = {};
  return {
    get credentials() {
      made.credentials ??= services.credentials(caller);
      return made.credentials;
    },
    get mail() {
      made.mail ??= services.mail(caller);
      return made.mail;
    },
    get sql() {
      made.sql ??= services.sql(caller);
      return made.sql;
    },
    get ai() {
      made.ai ??= services.ai(caller);
      return made.ai;
    },
    get code() {
      made.code ??= services.code(caller);
      return made.code;
    },
    get data() {
      made.data ??= services.data(caller);
      return made.data;
    },
    get workflows() {
      made.workflows ??= services.workflows(caller);
      return made.workflows;
    },
    get callbacks() {
      made.callbacks ??= services.callbacks(caller);
      return made.callbacks;
    },
    get tools() {
      made.tools ??= services.tools(caller, context());
      return made.tools;
    },
  };
}
