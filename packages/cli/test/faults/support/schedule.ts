import type { Queryable } from '@millrace/database/database';
import type { Flow } from './client.ts';

/** Fires every second, so that a few seconds are enough. */
export const EVERY_SECOND: Flow = {
  nodes: [
    {
      id: 'start',
      type: 'trigger.schedule',
      data: {
        config: {
          schedule: { type: 'every', every: 1, unit: 'seconds' },
          timezone: 'UTC',
          missed: 'run_all',
        },
      },
    },
    { id: 'set', type: 'core.set', data: { config: { values: { at: '{{trigger.data.scheduled_at}}' } } } },
  ],
  edges: [{ source: 'start', target: 'set' }],
};

/** One fire of a schedule. */
export interface Fire {
  readonly fireTime: Date;
  readonly outcome: string;
  readonly executionId: number | null;
}

/** All fires of a workflow's schedule in their order. */
export async function readFires(db: Queryable, workflowId: number): Promise<Fire[]> {
  return await db.query<Fire>(
    `SELECT fire_time AS "fireTime", outcome, execution_id AS "executionId"
     FROM schedule_fires WHERE workflow_id = $1 ORDER BY fire_time`,
    [workflowId],
  );
}

/** An execution started by a schedule, and the fire time in its input. */
export interface ScheduledExecution {
  readonly id: number;
  readonly at: string;
}

/** All executions of a schedule's workflow in their order. */
export async function readScheduled(db: Queryable, workflowId: number): Promise<ScheduledExecution[]> {
  return await db.query<ScheduledExecution>(
    `SELECT id, input->>'scheduled_at' AS at FROM executions WHERE workflow_id = $1 ORDER BY id`,
    [workflowId],
  );
}
