import { createGuardedHttpClient } from '@millrace/egress/guarded-client';
import {
  defineNode,
  type HttpClient,
  type NodeContext,
  type NodeDefinition,
  type NodeRegistry,
  type NodeResult,
  success,
} from '@millrace/engine';
import { registry as catalogue } from '@millrace/nodes';
import { typesOfVersions } from '@millrace/own-connectors/types';
import { createToolService } from '@millrace/ports/tools';
import {
  createTestServices,
  startTestService,
  type TestKey,
  type TestOverrides,
  type TestService,
} from '@millrace/testing/service';
import type { Executor } from '../../src/executor.ts';
import { Meters } from '../../src/meters/meters.ts';
import type { Services } from '../../src/node-services.ts';
import { createPlanCache, type PlanCache } from '../../src/plans.ts';
import { Worker } from '../../src/worker.ts';
import type { WorkerDeps } from '../../src/worker-deps.ts';

export interface NodeOutputBody {
  readonly status: string;
  readonly output: { readonly [name: string]: unknown };
  readonly consumed_ai_tokens: number;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly error?: { readonly code: string; readonly message: string };
  readonly attempts?: number;
}

/** An execution detail; the API client has checked it against its schema. */
export interface ExecutionBody {
  readonly id: number;
  readonly status: string;
  readonly workflow_version: number;
  readonly display_name: string;
  readonly trigger_type: string;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly duration_ms: number | null;
  readonly consumed_ai_tokens: number;
  readonly is_test_mode: boolean;
  readonly error?: { readonly code: string; readonly message: string; readonly node_id: string | null };
  readonly cancellation?: { readonly code: string; readonly message: string; readonly execution_id: number };
  readonly children: readonly {
    readonly execution_id: number;
    readonly node_id: string;
    readonly workflow_id: number;
  }[];
  readonly input_data: { readonly [name: string]: unknown };
  readonly node_outputs: { readonly [nodeId: string]: NodeOutputBody };
}

/** A service with a worker, and effect nodes whose `run` the test provides. */
export interface WorkingService extends Omit<TestService, 'worker'> {
  readonly key: TestKey;
  readonly worker: Worker;
  /** What all its workers count. */
  readonly meters: Meters;
  /** The behaviour of nodes of type `test.effect`, by their config's `do`. */
  readonly behaviours: Map<string, (context: NodeContext) => NodeResult | Promise<NodeResult>>;
  /** Saves an active workflow and returns its id. */
  createWorkflow(flow: object, more?: object): Promise<number>;
  /** Starts a workflow and returns the execution's id. */
  execute(workflowId: number, input?: object): Promise<number>;
  /** Waits until the execution has ended and returns its detail. */
  finished(executionId: number): Promise<ExecutionBody>;
  read(executionId: number): Promise<ExecutionBody>;
  /** One more worker on the same database, as in another process. */
  startWorker(
    config?: Partial<TestService['deps']['config']['worker']>,
    more?: Partial<WorkerDeps>,
  ): Promise<Worker>;
  /** Stops those that {@link startWorker} started, so that the next test begins without them. */
  stopWorkers(): Promise<void>;
}

export interface WorkingOverrides extends TestOverrides {
  /** False: nothing runs until a worker is started. */
  readonly withWorker?: boolean;
  readonly http?: HttpClient;
  /** Replaces the real ones. */
  readonly services?: Partial<Services>;
}

/** Nodes take no time unless the test specifies it, so short intervals keep the tests quick. No lease ends because the machine is busy. */
const QUICK = { leaseMs: 60_000, heartbeatMs: 500, pollMs: 100, shutdownGraceMs: 1_000 };
/** A request waits for at most 30 seconds; a busy machine may need several. */
const MAX_WAITS = 6;

export async function startWorkingService(overrides: WorkingOverrides = {}): Promise<WorkingService> {
  const behaviours: WorkingService['behaviours'] = new Map();
  const registry = withTestNodes(behaviours);
  let plans: PlanCache | null = null;
  let worker: Worker | null = null;
  const service = await startTestService({
    ...overrides,
    // This service starts its own worker, which knows the test's nodes.
    runsWorker: false,
    worker: { ...QUICK, ...overrides.worker },
    deps: {
      registry,
      plans: { get: (workflowId, version) => present(plans).get(workflowId, version) },
      executor: delegate(() => worker),
      ...overrides.deps,
    },
  });
  const { db, notifier, log, config, egress, files } = service.deps;
  plans = createPlanCache(db, typesOfVersions(registry, db));
  const client = overrides.http ?? createGuardedHttpClient({ allowHosts: ['127.0.0.1'] });
  const http = () => client;
  const made = createTestServices({ config, db, plans, notifier, log, registry, egress, files });
  const services: Services = {
    ...made.services,
    // So that tools also get the test's services.
    tools: createToolService(registry, () => services, config.limits),
    ...overrides.services,
  };
  const meters = new Meters();
  meters.hosts = () => egress.hosts.state;
  const { slots } = made;
  const workerDeps: WorkerDeps = { config, db, plans, notifier, http, services, slots, log, meters };
  const more: Worker[] = [];
  await notifier.start();
  if (overrides.withWorker !== false) {
    worker = new Worker(workerDeps);
    await worker.start();
  }
  const key = await service.createKey();
  return {
    ...service,
    key,
    meters,
    get worker() {
      return present(worker);
    },
    behaviours,
    async createWorkflow(flow, fields = {}) {
      const body = { name: 'sample', flow_data: flow, status: 'active', ...fields };
      const answer = await service.api('POST', '/workflows', { key, body });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.json.id;
    },
    async execute(workflowId, input = {}) {
      const body = { input_data: input };
      const answer = await service.api('POST', `/workflows/${workflowId}/execute`, { key, body });
      if (answer.status !== 202) throw new Error(answer.text);
      return Number(answer.json.execution_id);
    },
    async finished(executionId) {
      let text = '';
      for (let wait = 0; wait < MAX_WAITS; wait += 1) {
        const answer = await service.api('GET', `/executions/${executionId}?wait=30`, { key });
        const body = answer.json as unknown as ExecutionBody;
        if (answer.status === 200 && body.completed_at !== null) return body;
        text = answer.text;
        if (answer.status !== 200) break;
      }
      throw new Error(`not ended: ${text}`);
    },
    async read(executionId) {
      const answer = await service.api('GET', `/executions/${executionId}`, { key });
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.json as unknown as ExecutionBody;
    },
    async startWorker(own = {}, given = {}) {
      const another = new Worker({
        ...workerDeps,
        ...given,
        config: { ...config, worker: { ...config.worker, ...own } },
      });
      more.push(another);
      await another.start();
      return another;
    },
    async stopWorkers() {
      await Promise.all(more.splice(0).map((one) => one.stop()));
    },
    async stop() {
      await service.app.close();
      const workers = worker === null ? more : [worker, ...more];
      await Promise.all(workers.map((one) => one.stop()));
      await made.services.close();
      await service.stop();
    },
  };
}

function delegate(worker: () => Worker | null): Executor {
  return {
    reserve: (id, organisationId, bytes) => worker()?.reserve(id, organisationId, bytes) ?? null,
    isBusy: (organisationId) => worker()?.isBusy(organisationId) ?? false,
    runAhead: (execution, compiled, bytes) => worker()?.runAhead(execution, compiled, bytes) ?? null,
    completeAhead: () => null,
    run: (execution, ahead) => worker()?.run(execution, ahead),
    release: (id, ended) => worker()?.release(id, ended),
  };
}

function present<T>(value: T | null): T {
  if (value === null) throw new Error('is not there yet');
  return value;
}

function withTestNodes(behaviours: WorkingService['behaviours']): NodeRegistry {
  const common = {
    title: 'Test',
    description: 'Does what the test says.',
    icon: 'flask-conical',
    configSchema: { type: 'object' },
    examples: [],
    run(context: NodeContext) {
      const behaviour = behaviours.get(context.config.do as string);
      return behaviour === undefined ? success({ done: context.node.id }) : behaviour(context);
    },
  };
  const nodes: NodeDefinition[] = [
    defineNode({ ...common, type: 'test.effect', kind: 'effect' }),
    defineNode({ ...common, type: 'test.pure', kind: 'pure' }),
  ];
  return (type) => nodes.find((node) => node.type === type) ?? catalogue(type);
}
