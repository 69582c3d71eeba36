import { createHmac, randomBytes } from 'node:crypto';
import { addCredential } from '@millrace/credentials/credentials';
import type { JsonObject } from '@millrace/engine';
import { createSecretKeys } from '@millrace/secrets/keys';
import { type ApiAnswer, send } from '@millrace/testing/api';
import {
  startWorkingService,
  type WorkingOverrides,
  type WorkingService,
} from '../../runtime/test/worker/service-with-worker.ts';

/** A service with workflows started by webhooks. */
export interface WebhookWorld {
  readonly service: WorkingService;
  /** Saves a workflow and returns its id and the secret part of its URL. */
  createWebhook(config: JsonObject, more?: WebhookFlow): Promise<{ id: number; hash: string }>;
  /** Calls it and checks the response against the OpenAPI document. */
  call(hash: string, body: string, headers?: { readonly [name: string]: string }): Promise<ApiAnswer>;
  /** Calls it without checking the response against the document, for responses defined by workflows. */
  callFreely(hash: string, body: string, headers?: { readonly [name: string]: string }): Promise<ApiAnswer>;
  /** Stores a credential of type `secret` in the organisation of the test's key. */
  createSecret(value: string, organisationId?: number): Promise<number>;
  /** Ids of the executions of a workflow. */
  executionsOf(workflowId: number): Promise<number[]>;
}

export interface WebhookFlow {
  readonly nodes?: readonly {
    readonly id: string;
    readonly type: string;
    readonly config?: JsonObject;
    readonly parentId?: string;
  }[];
  readonly edges?: readonly {
    readonly source: string;
    readonly target: string;
    readonly sourceHandle?: string;
  }[];
  readonly status?: string;
}

export async function startWebhookWorld(overrides: WorkingOverrides = {}): Promise<WebhookWorld> {
  const secretKeys = { current: randomBytes(32), previous: [] };
  const service = await startWorkingService({
    ...overrides,
    config: { secretKeys, ...overrides.config },
    limits: { requestsPerMinutePerWebhook: 0, ...overrides.limits },
  });
  const { db } = service.database;
  const callWith = async (
    sendCall: typeof service.api,
    hash: string,
    body: string,
    headers: { readonly [name: string]: string } = {},
  ) => sendCall('POST', `/webhooks/${hash}`, { raw: body, headers });
  let secrets = 0;
  return {
    service,
    async createWebhook(config, { nodes = [], edges = [], status = 'active' } = {}) {
      const flow = {
        nodes: [
          { id: 'start', type: 'trigger.webhook', data: { config } },
          ...nodes.map(({ config: own = {}, ...node }) => ({ ...node, data: { config: own } })),
        ],
        edges,
      };
      const id = await service.createWorkflow(flow, { status });
      const { json } = await service.api('GET', `/workflows/${id}/webhook-info`, { key: service.key });
      return { id, hash: String(json.hash) };
    },
    call: (hash, body, headers) => callWith(service.api, hash, body, headers),
    callFreely: (hash, body, headers) =>
      callWith(
        (method, path, request) => send(`${service.url}/api/v1${path}`, method, request),
        hash,
        body,
        headers,
      ),
    async createSecret(value, organisationId = service.key.organisationId) {
      secrets += 1;
      const credential = {
        organisationId,
        name: `secret ${secrets}`,
        type: 'secret',
        hosts: [],
        fields: { value },
      };
      const keys = createSecretKeys(service.deps.config);
      return (await addCredential({ db, keys }, credential, { actor: 'operator' })).id;
    },
    async executionsOf(workflowId) {
      const rows = await db.query<{ id: number }>(
        'SELECT id FROM executions WHERE workflow_id = $1 ORDER BY id',
        [workflowId],
      );
      return rows.map((row) => row.id);
    },
  };
}

/** The header with which GitHub signs a body. */
export function githubHeaders(secret: string, body: string): { 'x-hub-signature-256': string } {
  return { 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
}

/** What is sent to a webhook. */
export interface WebhookCall {
  /** What follows the hash. */
  readonly rest?: string;
  readonly body?: string | FormData;
  readonly headers?: { readonly [name: string]: string };
}

/** A call by any method. */
export async function callWebhook(
  serviceUrl: string,
  method: string,
  hash: string,
  { rest = '', body, headers = {} }: WebhookCall = {},
) {
  const response = await fetch(`${serviceUrl}/api/v1/webhooks/${hash}${rest}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const json = text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {};
  return { status: response.status, headers: response.headers, text, json };
}
