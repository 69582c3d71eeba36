import { setTimeout as pause } from 'node:timers/promises';

/** Certainly not executed: the request may be repeated, with or without a key. */
const OVERLOADED = 'overloaded';
const RETRY_MS = 100;
/** A process that is stopped for longer is as good as dead to its clients. */
const REQUEST_TIMEOUT_MS = 60_000;

/** The outcome of a start for its client. */
export type Answer =
  | {
      readonly kind: 'accepted';
      readonly executionId: number;
      readonly isReplay: boolean;
      readonly body: string;
    }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly code: string;
      readonly retryAfter: string | null;
      readonly body: string;
    }
  /** No response: the connection couldn't be made or was cut. */
  | { readonly kind: 'cut' };

export interface Start {
  readonly marker: string;
  readonly key: string | null;
  readonly answer: Answer;
}

/** A client of the API, with a key. */
export class Client {
  readonly #key: string;
  url: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.#key = key;
  }

  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return await this.#send('POST', path, body, headers);
  }

  /** A body that needn't be JSON. */
  async postText(path: string, body: string): Promise<Response> {
    return await this.#sendText('POST', path, body);
  }

  async put(path: string, body: unknown): Promise<Response> {
    return await this.#send('PUT', path, body);
  }

  /** The URL of a workflow's webhook, at this process. */
  async webhookOf(workflowId: number): Promise<string> {
    const { hash } = await this.get<{ hash: string }>(`/workflows/${workflowId}/webhook-info`);
    return `${this.url}/api/v1/webhooks/${hash}`;
  }

  async archive(workflowId: number): Promise<Response> {
    return await this.#send('DELETE', `/workflows/${workflowId}`);
  }

  /** Reads, again while the service is too busy. */
  async get<T>(path: string): Promise<T> {
    for (;;) {
      const response = await this.#send('GET', path);
      const text = await response.text();
      if (response.ok) return JSON.parse(text) as T;
      if (response.status !== 503 || (JSON.parse(text) as { code?: string }).code !== OVERLOADED) {
        throw new Error(`GET ${path}: ${response.status} ${text}`);
      }
      await pause(RETRY_MS);
    }
  }

  /** The content of a file; null while the service refuses to deliver it. */
  async download(file: string): Promise<Uint8Array | null> {
    const response = await this.#send('GET', `/files/${file}`);
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : null;
  }

  /** Saves a workflow as a user does. */
  async createWorkflow(name: string, flow: Flow): Promise<number> {
    for (;;) {
      const response = await this.post('/workflows', { name, flow_data: flow });
      const body = (await response.json()) as { id: number; problems?: unknown[]; code?: string };
      if (response.status === 201 && body.problems?.length === 0) return body.id;
      if (body.code !== OVERLOADED) {
        throw new Error(`The workflow was not taken as it is: ${response.status} ${JSON.stringify(body)}`);
      }
      await pause(RETRY_MS);
    }
  }

  /** Starts the workflow; every outcome is returned as an answer. */
  async start(
    workflowId: number,
    marker: string,
    key: string | null = null,
    input: object = {},
  ): Promise<Start> {
    return { marker, key, answer: await this.#start(workflowId, key, { marker, ...input }) };
  }

  /** Starts the workflow, retrying while the service is too busy to process the request. */
  async startPatiently(workflowId: number, marker: string, key: string | null = null): Promise<Start> {
    for (;;) {
      const start = await this.start(workflowId, marker, key);
      if (start.answer.kind !== 'refused' || start.answer.code !== OVERLOADED) return start;
      await pause(RETRY_MS);
    }
  }

  /** Starts the workflow. @throws unless it was accepted */
  async accept(workflowId: number, marker: string, key: string | null = null): Promise<number> {
    const { answer } = await this.startPatiently(workflowId, marker, key);
    if (answer.kind !== 'accepted') throw new Error(`The start was not accepted: ${JSON.stringify(answer)}`);
    return answer.executionId;
  }

  async #send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return await this.#sendText(method, path, body === undefined ? undefined : JSON.stringify(body), headers);
  }

  async #sendText(
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
  }

  /** Starts several executions of a workflow by one request. @returns an answer for each item, in their order */
  async startBatch(workflowId: number, items: readonly BatchItem[]): Promise<Answer[]> {
    const body = {
      mode: 'each',
      items: items.map(({ key, input }) => ({
        input_data: input,
        ...(key === null ? {} : { idempotency_key: key }),
      })),
    };
    const answer = await this.#answerTo(`/workflows/${workflowId}/executions/batch`, body);
    if (answer.kind !== 'accepted') return items.map(() => answer);
    const { data } = JSON.parse(answer.body) as BatchBody;
    return data.map(({ outcome, receipt, problem }) => {
      if (receipt !== undefined) {
        const { execution_id: executionId } = receipt;
        const isReplay = outcome === 'replayed';
        return { kind: 'accepted', executionId, isReplay, body: JSON.stringify(receipt) };
      }
      const code = problem?.code ?? '';
      return { kind: 'refused', status: 202, code, retryAfter: null, body: JSON.stringify(problem) };
    });
  }

  /**
   * Calls a webhook that answers by a node with the marker and the execution's id, or with the receipt.
   * @returns as body what repeats have in common
   */
  async callWebhook(path: string, marker: string, input: object): Promise<Answer> {
    let response: Response;
    let body: string;
    try {
      response = await fetch(`${this.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ marker, ...input }),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      body = await response.text();
    } catch {
      return { kind: 'cut' };
    }
    const { status, headers } = response;
    const answer = JSON.parse(body) as { execution_id?: number; marker?: string; code?: string };
    // One that answers with a failure has been accepted as well.
    const isAnswer =
      status === 201 ? answer.marker === marker : status === 202 || answer.code === 'execution_failed';
    if (isAnswer && answer.execution_id !== undefined) {
      const executionId = answer.execution_id;
      return { kind: 'accepted', executionId, isReplay: false, body: String(executionId) };
    }
    return { kind: 'refused', status, code: answer.code ?? '', retryAfter: headers.get('retry-after'), body };
  }

  async #start(workflowId: number, key: string | null, input: object): Promise<Answer> {
    const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': key };
    return await this.#answerTo(`/workflows/${workflowId}/execute`, { input_data: input }, headers);
  }

  async #answerTo(path: string, request: object, headers: Record<string, string> = {}): Promise<Answer> {
    let response: Response;
    let body: string;
    try {
      response = await this.post(path, request, headers);
      body = await response.text();
    } catch {
      return { kind: 'cut' };
    }
    const answer = JSON.parse(body) as { execution_id: number; code: string };
    if (response.status === 202) {
      const isReplay = response.headers.get('idempotent-replayed') === 'true';
      return { kind: 'accepted', executionId: answer.execution_id, isReplay, body };
    }
    const retryAfter = response.headers.get('retry-after');
    return { kind: 'refused', status: response.status, code: answer.code, retryAfter, body };
  }
}

/** One start of a batch. */
export interface BatchItem {
  readonly key: string | null;
  readonly input: object;
}

interface BatchBody {
  readonly data: readonly {
    readonly outcome: string;
    readonly receipt?: { readonly execution_id: number };
    readonly problem?: { readonly code: string };
  }[];
}

/** The required members of `flow_data`. */
export interface Flow {
  readonly nodes: readonly { readonly id: string; readonly type: string; readonly data: object }[];
  readonly edges: readonly { readonly source: string; readonly target: string }[];
  readonly settings?: object;
}

export type Step = {
  readonly id: string;
  readonly type: string;
  readonly config: object;
  readonly retry?: object;
};

/** A workflow whose nodes run sequentially after a manual trigger. */
export function chain(...steps: Step[]): Flow {
  const nodes = [
    { id: 'start', type: 'trigger.manual', data: {} },
    ...steps.map(({ id, type, config, retry }) => ({
      id,
      type,
      data: retry ? { config, retry } : { config },
    })),
  ];
  const edges = nodes.slice(1).map(({ id }, index) => ({ source: nodes[index]?.id ?? '', target: id }));
  return { nodes, edges };
}

/** A node with an external effect: posts the execution's marker. */
export function post(id: string, url: string): Step {
  return {
    id,
    type: 'http.request',
    config: {
      method: 'POST',
      url,
      body: { marker: '{{trigger.data.marker}}', execution: '{{execution.id}}' },
    },
  };
}

/** A node without effect. */
export function set(id: string, values: object): Step {
  return { id, type: 'core.set', config: { values } };
}
