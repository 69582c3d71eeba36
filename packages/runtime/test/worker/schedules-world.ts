import { type JsonObject, parseJson } from '@millrace/engine';
import { Scheduler } from '@millrace/service/schedules/scheduler';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { nextFires, readSchedule } from '@millrace/triggers';

export interface FireRow {
  readonly fire_time: Date;
  readonly fire_number: number;
  readonly is_missed: boolean;
  readonly outcome: 'started' | 'queued' | 'skipped';
  readonly reason: string | null;
  readonly execution_id: number | null;
}

/** Trigger data of an execution that a schedule started. */
export interface FireInput {
  readonly scheduled_at: string;
  readonly timezone: string;
  readonly fire_number: number;
  readonly missed: boolean;
  readonly input: JsonObject;
}

/** A service without a worker, schedulers, and a clock set by the test. */
export interface ScheduleWorld {
  readonly service: TestService;
  readonly key: TestKey;
  /** The clock of the schedulers, epoch milliseconds. */
  nowMs: number;
  /** One more scheduler on the same database, as in another process. */
  scheduler(clock?: 'of the test' | 'of the database'): Scheduler;
  /** Saves a workflow started by a schedule and returns its id. */
  create(config: JsonObject, status?: string): Promise<number>;
  /** The same, as if it had been saved at a given time of the test's clock. */
  createAt(config: JsonObject, at: string): Promise<number>;
  change(workflowId: number, change: object): Promise<void>;
  fires(workflowId: number): Promise<FireRow[]>;
  /** Trigger data of the workflow's executions, in the order of their ids. */
  inputs(workflowId: number): Promise<FireInput[]>;
  nextFire(workflowId: number): Promise<string | null>;
  /** Ends an execution as a worker would. */
  end(executionId: number): Promise<void>;
  stop(): Promise<void>;
}

export const scheduledFlow = (config: JsonObject) => ({
  nodes: [
    { id: 'start', type: 'trigger.schedule', data: { config } },
    { id: 'set', type: 'core.set', data: { config: { values: { done: true } } } },
  ],
  edges: [{ source: 'start', target: 'set' }],
});

/** Config of a schedule in UTC. */
export const cron = (expression: string, more: JsonObject = {}): JsonObject => ({
  schedule: { type: 'cron', cron: expression },
  timezone: 'UTC',
  ...more,
});

export async function createScheduleWorld(): Promise<ScheduleWorld> {
  const service = await startTestService({ runsWorker: false, limits: { requestsPerMinutePerKey: 0 } });
  const key = await service.createKey();
  const { db } = service.database;
  const schedulers: Scheduler[] = [];
  const world: ScheduleWorld = {
    service,
    key,
    nowMs: 0,
    scheduler(clock = 'of the test') {
      // It only learns what it is notified of.
      const now = { now: async () => world.nowMs, pollMs: 2 ** 31 - 1 };
      const scheduler = new Scheduler({ ...service.deps, ...(clock === 'of the test' ? now : {}) });
      schedulers.push(scheduler);
      return scheduler;
    },
    async create(config, status = 'active') {
      const body = { name: 'by the clock', flow_data: scheduledFlow(config), status };
      const answer = await service.api('POST', '/workflows', { key, body });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.json.id;
    },
    async createAt(config, at) {
      const id = await world.create(config);
      const definition = readSchedule(config);
      if (definition === null) throw new Error('the config does not fit');
      const [next] = nextFires(definition, Date.parse(at), 1);
      const time = next === undefined ? null : new Date(next);
      await db.query('UPDATE schedules SET next_fire_time = $2, next_fire_at = $2 WHERE workflow_id = $1', [
        id,
        time,
      ]);
      return id;
    },
    async change(workflowId, change) {
      const answer = await service.api('PUT', `/workflows/${workflowId}`, { key, body: change });
      if (answer.status !== 200) throw new Error(answer.text);
    },
    fires: (workflowId) =>
      db.query<FireRow>(
        `SELECT fire_time, fire_number, is_missed, outcome, reason, execution_id FROM schedule_fires
         WHERE workflow_id = $1 ORDER BY fire_time`,
        [workflowId],
      ),
    async inputs(workflowId) {
      const rows = await db.query<{ input: string }>(
        'SELECT input FROM executions WHERE workflow_id = $1 ORDER BY id',
        [workflowId],
      );
      return rows.map((row) => parseJson(row.input) as unknown as FireInput);
    },
    async nextFire(workflowId) {
      const [row] = await db.query<{ at: Date | null }>(
        'SELECT next_fire_time AS at FROM schedules WHERE workflow_id = $1',
        [workflowId],
      );
      return row?.at?.toISOString() ?? null;
    },
    async end(executionId) {
      await db.query(
        `UPDATE executions SET status = 'cancelled', worker_id = NULL, completed_at = greatest(now(), created_at)
         WHERE id = $1`,
        [executionId],
      );
      service.deps.notifier.changed([executionId]);
    },
    async stop() {
      await Promise.all(schedulers.map((scheduler) => scheduler.stop()));
      await service.stop();
    },
  };
  return world;
}
