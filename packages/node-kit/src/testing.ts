import {
  type AiAnswer,
  type AiRequest,
  type AuthenticatedRequest,
  type Credential,
  type CredentialService,
  finishWork,
  type HttpClient,
  HttpClientError,
  type HttpRequest,
  type HttpResponse,
  isJsonArray,
  isJsonObject,
  isWork,
  type JsonObject,
  type JsonValue,
  Meter,
  type NodeContext,
  type NodeDefinition,
  type NodeResult,
  type NodeServices,
  type NodeSignal,
  type PollContext,
  type PollResult,
  parseTemplate,
  render,
  ServiceError,
  type TemplateScope,
} from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { shownRequest, signSimply } from './http/credential.ts';
import { plainCode } from './testing-code.ts';
import { memoryData } from './testing-data.ts';
import { directDocuments } from './testing-documents.ts';
import { directContents, memoryFiles } from './testing-files.ts';
import { fakeMemory } from './testing-memory.ts';
import { memoryVectors } from './testing-vectors.ts';
import { fakeWaits } from './testing-waits.ts';

/** The default time of {@link runNode}. */
export const TEST_NOW_MS = Date.parse('2026-01-01T00:00:00Z');

export interface RunOptions {
  /** May contain templates over `trigger` and `inputs`; they are rendered as in an execution. */
  readonly config?: JsonObject;
  readonly inputs?: { readonly [nodeId: string]: JsonObject };
  /** The ids in `inputs` in the order of the edges; the order of its members when absent. */
  readonly inputOrder?: readonly string[];
  readonly trigger?: JsonValue;
  /** Responses in order, or a handler. */
  readonly http?: readonly HttpResponse[] | ((request: HttpRequest) => HttpResponse | Promise<HttpResponse>);
  /** Epoch milliseconds, or a clock. */
  readonly now?: number | (() => number);
  readonly isTestMode?: boolean;
  readonly attempt?: number;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  /** The previous attempt's output. */
  readonly previousOutput?: JsonObject;
  /** The content of every credential that the node opens; there is none when absent. */
  readonly credential?: Credential;
  /** Rows returned by every SQL query. */
  readonly sqlRows?: readonly JsonObject[];
  /** What Redis answers, command by command. */
  readonly redis?: readonly JsonValue[];
  /** What MongoDB answers. */
  readonly mongodb?: JsonObject;
  /** Responses of the model in order, or a handler; there is none when absent. */
  readonly ai?: readonly AiAnswer[] | ((request: AiRequest) => AiAnswer | Promise<AiAnswer>);
  readonly aiTokensLeft?: number;
  readonly timezone?: string;
  /** Services that replace the fakes. */
  readonly services?: Partial<Omit<NodeServices, 'credentials'>> & {
    readonly credentials?: Partial<CredentialService>;
  };
  /** Resumes the node after its wait instead of running it. */
  readonly resumed?: { readonly signal: NodeSignal; readonly waiting: JsonObject };
}

export interface RunOutcome {
  readonly result: NodeResult;
  /** The node's requests, in order. */
  readonly requests: readonly HttpRequest[];
}

/** Runs a node once with fake services: nothing is sent, no time passes. */
export async function runNode(definition: NodeDefinition, options: RunOptions = {}): Promise<RunOutcome> {
  const requests: HttpRequest[] = [];
  const trigger = options.trigger ?? null;
  const inputs: NonNullable<RunOptions['inputs']> = options.inputs ?? {};
  const { now = TEST_NOW_MS } = options;
  const scope: TemplateScope = {
    triggerData: trigger,
    executionId: 1,
    vars: {},
    nowMs: typeof now === 'number' ? now : TEST_NOW_MS,
    nodeOutput: (nodeId) => inputs[nodeId] ?? null,
  };
  const http = fakeClient(options.http ?? [], requests);
  // As in a worker, where services are made on first use: a copy of a context has none of them.
  const services = Object.create(fakeServices(options, http)) as ReturnType<typeof fakeServices>;
  const context: NodeContext = Object.assign(services, {
    config: renderConfig(definition, options.config ?? {}, scope),
    node: { id: 'node', label: definition.title },
    execution: { id: 1, workflowId: 1, organisationId: 1, isTestMode: options.isTestMode ?? false },
    triggerData: trigger,
    inputs,
    inputOrder: options.inputOrder ?? Object.keys(inputs),
    attempt: options.attempt ?? 1,
    previousOutput: options.previousOutput ?? null,
    iteration: [],
    aiTokensLeft: options.aiTokensLeft ?? null,
    timezone: options.timezone ?? null,
    render: (template, args) => renderValue(template, { ...scope, args }),
    idempotencyKey: options.idempotencyKey ?? 'execution-1-node',
    signal: options.signal ?? new AbortController().signal,
    http,
    now: () => (typeof now === 'number' ? now : now()),
    inTurns: async (make) => finishWork(make(new Meter())),
    readWhole: async (file) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of file.read()) pieces.push(piece);
      return Buffer.concat(pieces);
    },
  } satisfies Omit<NodeContext, keyof ReturnType<typeof fakeServices>>);
  const { resumed } = options;
  const running =
    resumed === undefined
      ? definition.run(context)
      : definition.resume?.(context, resumed.signal, resumed.waiting);
  const result = await (isWork(running) ? finishWork(running) : running);
  if (result === undefined) throw new Error(`${definition.type} takes no signal`);
  return { result, requests };
}

/** How {@link pollNode} polls; the config has no templates. */
export interface PollOptions extends Pick<RunOptions, 'config' | 'http' | 'credential'> {
  /** As the last poll left it; null for the first one. */
  readonly position?: JsonValue;
  readonly nowMs?: number;
}

export interface PollOutcome {
  readonly result: PollResult;
  /** The poll's requests, in order. */
  readonly requests: readonly HttpRequest[];
}

/** Polls a trigger once with fake services, for a workflow that has seen nothing of what is listed. */
export async function pollNode(
  { type, polling }: NodeDefinition,
  { config = {}, position = null, nowMs = TEST_NOW_MS, ...options }: PollOptions,
): Promise<PollOutcome> {
  if (polling === undefined) throw new Error(`${type} does not poll`);
  const requests: HttpRequest[] = [];
  const http = fakeClient(options.http ?? [], requests);
  const context: PollContext = {
    ...fakeServices(options, http),
    ...{ config, position, isFirst: position === null, isTestMode: false, http },
    signal: new AbortController().signal,
    now: () => nowMs,
    inTurns: async (make) => finishWork(make(new Meter())),
  };
  const found = await polling.poll(context);
  if (found.kind === 'failure' || polling.complete === undefined || found.items.length === 0) {
    return { result: found, requests };
  }
  const items = await polling.complete(context, found.items);
  return { result: 'kind' in items ? items : { ...found, items }, requests };
}

const MAX_RENDERED_BYTES = 16 * 1024 * 1024;

function renderValue(value: JsonValue, scope: TemplateScope): JsonValue {
  if (isJsonArray(value)) return value.map((item) => renderValue(item, scope));
  if (isJsonObject(value)) return renderMembers(value, scope);
  if (typeof value !== 'string') return value;
  const parsed = parseTemplate(value);
  if (!parsed.ok)
    throw new Error(`${JSON.stringify(value)} does not parse: ${inEnglish(parsed.error.message)}`);
  return render(parsed.template, scope, MAX_RENDERED_BYTES);
}

/** Renders what the engine renders at the start; deferred members stay unrendered. */
function renderConfig(definition: NodeDefinition, config: JsonObject, scope: TemplateScope): JsonObject {
  const isDeferred = (name: string): boolean => Object.hasOwn(definition.deferred ?? {}, name);
  const entries = Object.entries(config);
  return {
    ...renderMembers(Object.fromEntries(entries.filter(([name]) => !isDeferred(name))), scope),
    ...Object.fromEntries(entries.filter(([name]) => isDeferred(name))),
  };
}

function renderMembers(object: JsonObject, scope: TemplateScope): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, renderValue(value, scope)]));
}

function fakeClient(answers: NonNullable<RunOptions['http']>, requests: HttpRequest[]): HttpClient {
  return {
    async send(request) {
      requests.push(request);
      if (typeof answers === 'function') return answers(request);
      const answer = answers[requests.length - 1];
      if (answer === undefined)
        throw new HttpClientError('connection_failed', verbatim('the test has no answer for this request'));
      return answer;
    },
  };
}

/** Services that reach nothing: mail is accepted, queries return the given rows, the others are absent. */
function fakeServices(
  {
    credential,
    sqlRows = [],
    redis = [],
    mongodb = {},
    ai = [],
    services: { credentials, ...services } = {},
  }: RunOptions,
  client: HttpClient,
): NodeServices {
  return {
    ...absentServices,
    credentials: {
      authenticate: async (id, request) => signed(id, request, credential, client),
      async open(id, { types }) {
        const isWanted = credential !== undefined && types.some((type) => type === credential.type);
        if (!isWanted) throw noneFits(id);
        return credential as never;
      },
      async token(id) {
        if (credential?.type !== 'oauth2') throw noneFits(id);
        return { text: 'an-access-token', generation: 1 };
      },
      ...credentials,
    },
    mail: {
      send: async (_credential, { to, cc, bcc }) => ({
        accepted: [...to, ...cc, ...bcc],
        rejected: [],
        response: '250 OK',
      }),
    },
    ai: fakeModel(ai),
    code: plainCode,
    documents: directDocuments,
    contents: directContents,
    files: memoryFiles(),
    data: memoryData(() => TEST_NOW_MS),
    memory: fakeMemory(),
    vectors: memoryVectors(),
    redis: { run: async () => redis },
    mongodb: { run: async () => mongodb },
    kafka: { send: async (_, { messages }) => messages.map((_each, offset) => ({ partition: 0, offset })) },
    sql: { query: async () => ({ rows: sqlRows, rowCount: sqlRows.length, isTruncated: false }) },
    ...fakeWaits,
    ...services,
  };
}

/** With the credentials that only have to be added to a request. */
function signed(
  id: number,
  request: HttpRequest,
  credential: Credential | undefined,
  client: HttpClient,
): AuthenticatedRequest {
  switch (credential?.type) {
    case 'bearer':
    case 'basic':
    case 'header':
    case 'query': {
      const result = signSimply(request, credential);
      return { shown: shownRequest(result), send: (signal) => client.send(result.request, signal) };
    }
    default:
      throw noneFits(id);
  }
}

function noneFits(id: number): ServiceError {
  return new ServiceError('credential_not_found', verbatim(`No credential ${id} fits.`));
}

function fakeModel(answers: NonNullable<RunOptions['ai']>): NodeServices['ai'] {
  let asked = 0;
  return {
    async generate(_credential, request) {
      asked += 1;
      if (typeof answers === 'function') return answers(request);
      const answer = answers[asked - 1];
      if (answer === undefined)
        throw new ServiceError('ai_unreachable', verbatim('the test has no answer of a model'));
      return answer;
    },
    // Vectors that a reader of a test can work out: characters, words, and 1; a token for each word.
    async embed(_credential, { texts }) {
      const words = texts.map((text) => text.split(/\s+/).length);
      const inputTokens = words.reduce((sum, count) => sum + count, 0);
      return {
        vectors: texts.map((text, index) => [text.length, words[index] ?? 0, 1]),
        usage: { inputTokens, outputTokens: 0, totalTokens: inputTokens },
      };
    },
  };
}

/** Reports when a node uses something its test doesn't provide. */
function absent(name: keyof NodeServices): never {
  const refuse = (): never => {
    throw new Error(`the test gives no service ${name}`);
  };
  return new Proxy({}, { get: refuse }) as never;
}

const absentServices: NodeServices = {
  credentials: absent('credentials'),
  mail: absent('mail'),
  sql: absent('sql'),
  redis: absent('redis'),
  mongodb: absent('mongodb'),
  kafka: absent('kafka'),
  ai: absent('ai'),
  code: absent('code'),
  documents: absent('documents'),
  data: absent('data'),
  memory: absent('memory'),
  vectors: absent('vectors'),
  workflows: absent('workflows'),
  callbacks: absent('callbacks'),
  tools: absent('tools'),
  files: absent('files'),
  contents: absent('contents'),
};
