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

/** Which attempt of which node a service acts for. */
export interface Caller {
  readonly organisationId: number;
  readonly workflowId: number;
  readonly executionId: number;
  readonly nodeId: string;
  readonly iteration: readonly number[];
  /** Attempts of the loops around it, outermost first; absent while each is at its first. */
  readonly loopAttempts?: readonly number[];
  /** Stable over attempts and take-overs. */
  readonly idempotencyKey: string;
  readonly isTestMode: boolean;
  /** Told every secret text that was handed to the node, so that it can be masked in what the node puts out. */
  readonly onSecret: (secret: string) => void;
}

type For<Service> = (caller: Caller) => Service;

/** The ports of the engine's NodeServices, each for a caller; one set for all runs of a process. */
export interface Services {
  readonly credentials: For<CredentialService>;
  readonly mail: For<MailService>;
  readonly sql: For<SqlService>;
  readonly ai: For<AiService>;
  readonly code: For<CodeService>;
  readonly data: For<DataService>;
  readonly workflows: For<WorkflowService>;
  readonly callbacks: For<CallbackService>;
  /** What the inner node sees besides its config and services is the outer one's. */
  readonly tools: (caller: Caller, context: NodeContext) => ToolService;
  /** Ends what they hold: threads. */
  close(): Promise<void>;
}

/**
 * The services of one attempt, each made when it is first asked for: most nodes ask for none.
 * @param context asked for when tools are
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
