import {
  type HttpClient,
  HttpClientError,
  type HttpRequest,
  type HttpResponse,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NodeDefinition,
  type NodeResult,
  parseTemplate,
  render,
  type TemplateScope,
} from '@millrace/engine';

/** The moment at which {@link runNode} runs when told nothing else. */
export const TEST_NOW_MS = Date.parse('2026-01-01T00:00:00Z');

export interface RunOptions {
  /** May hold templates over `trigger` and `inputs`; they are rendered as in an execution. */
  readonly config?: JsonObject;
  readonly inputs?: { readonly [nodeId: string]: JsonObject };
  /** The ids in `inputs` in the order of the edges; the order of its members when absent. */
  readonly inputOrder?: readonly string[];
  readonly trigger?: JsonValue;
  /** Answers in order, or what to do with a request. */
  readonly http?: readonly HttpResponse[] | ((request: HttpRequest) => HttpResponse | Promise<HttpResponse>);
  /** Epoch milliseconds, or a clock. */
  readonly now?: number | (() => number);
  readonly isTestMode?: boolean;
  readonly attempt?: number;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

export interface RunOutcome {
  readonly result: NodeResult;
  /** What the node sent, in order. */
  readonly requests: readonly HttpRequest[];
}

/** Runs a node once with a fake outside: nothing is sent, no time passes. */
export async function runNode(definition: NodeDefinition, options: RunOptions = {}): Promise<RunOutcome> {
  const requests: HttpRequest[] = [];
  const trigger = options.trigger ?? null;
  const inputs: NonNullable<RunOptions['inputs']> = options.inputs ?? {};
  const { now = TEST_NOW_MS } = options;
  const result = await definition.run({
    config: renderMembers(options.config ?? {}, {
      triggerData: trigger,
      executionId: 1,
      vars: {},
      nodeOutput: (nodeId) => inputs[nodeId] ?? null,
    }),
    node: { id: 'node', label: definition.title },
    execution: { id: 1, workflowId: 1, organisationId: 1, isTestMode: options.isTestMode ?? false },
    triggerData: trigger,
    inputs,
    inputOrder: options.inputOrder ?? Object.keys(inputs),
    attempt: options.attempt ?? 1,
    idempotencyKey: options.idempotencyKey ?? 'execution-1-node',
    signal: options.signal ?? new AbortController().signal,
    http: fakeClient(options.http ?? [], requests),
    now: () => (typeof now === 'number' ? now : now()),
  });
  return { result, requests };
}

const MAX_RENDERED_BYTES = 16 * 1024 * 1024;

function renderValue(value: JsonValue, scope: TemplateScope): JsonValue {
  if (isJsonArray(value)) return value.map((item) => renderValue(item, scope));
  if (isJsonObject(value)) return renderMembers(value, scope);
  if (typeof value !== 'string') return value;
  const parsed = parseTemplate(value);
  if (!parsed.ok) throw new Error(`${JSON.stringify(value)} does not parse: ${parsed.error.message}`);
  return render(parsed.template, scope, MAX_RENDERED_BYTES);
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
        throw new HttpClientError('connection_failed', 'the test has no answer for this request');
      return answer;
    },
  };
}
