/** A metric as it is announced to Prometheus. */
export interface MetricInfo {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** Every metric of Millrace itself. docs/monitoring.md lists the same; a test compares them. */
export const METRICS = {
  millrace_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels say which version runs.',
    labels: ['version', 'node_version'],
  },
  millrace_executions_accepted_total: {
    type: 'counter',
    help: 'Starts stored by this process, by what started them.',
    labels: ['trigger'],
  },
  millrace_executions_completed_total: {
    type: 'counter',
    help: 'Executions that this process completed.',
    labels: [],
  },
  millrace_executions_failed_total: {
    type: 'counter',
    help: 'Executions that this process ended as failed, by error code.',
    labels: ['code'],
  },
  millrace_organisation_executions_accepted_total: {
    type: 'counter',
    help: 'Starts stored by this process, for the busiest organisations.',
    labels: ['organisation'],
  },
  millrace_organisation_executions_completed_total: {
    type: 'counter',
    help: 'Executions that this process completed, for the busiest organisations.',
    labels: ['organisation'],
  },
  millrace_organisation_executions_failed_total: {
    type: 'counter',
    help: 'Executions that this process ended as failed, for the busiest organisations.',
    labels: ['organisation'],
  },
  millrace_execution_duration_seconds: {
    type: 'histogram',
    help: 'Time from the start of an execution to its end, for the busiest workflows.',
    labels: ['workflow'],
  },
  millrace_node_duration_seconds: {
    type: 'histogram',
    help: 'Time that an attempt of a node took, until it ended or began to wait.',
    labels: ['type'],
  },
  millrace_node_failures_total: {
    type: 'counter',
    help: 'Attempts of nodes that failed.',
    labels: ['type'],
  },
  millrace_ai_tokens_total: {
    type: 'counter',
    help: 'AI tokens consumed by nodes in this process.',
    labels: [],
  },
  millrace_organisation_ai_tokens_total: {
    type: 'counter',
    help: 'AI tokens consumed by nodes in this process, for the busiest organisations.',
    labels: ['organisation'],
  },
  millrace_schedule_fires_total: {
    type: 'counter',
    help: 'Fires of schedules handled by this process, by what became of them.',
    labels: ['outcome'],
  },
  millrace_polls_total: {
    type: 'counter',
    help: 'Polls of triggers by this process, by what became of them.',
    labels: ['outcome'],
  },
  millrace_schedule_lateness_seconds: {
    type: 'histogram',
    help: 'How long after their time schedules fired in this process.',
    labels: [],
  },
  millrace_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from a request to its response, by kind of request; without streams and long polls.',
    labels: ['kind'],
  },
  millrace_http_requests_refused_total: {
    type: 'counter',
    help: 'Requests refused with 429 or 503, by reason.',
    labels: ['reason'],
  },
  millrace_http_connections_refused_total: {
    type: 'counter',
    help: 'Client connections closed because too many were open.',
    labels: [],
  },
  millrace_shedding: {
    type: 'gauge',
    help: '1 while this process refuses new starts and reads because it is overloaded.',
    labels: [],
  },
  millrace_request_body_bytes: {
    type: 'gauge',
    help: 'Memory reserved for request bodies.',
    labels: [],
  },
  millrace_request_body_limit_bytes: {
    type: 'gauge',
    help: 'Memory that request bodies may take.',
    labels: [],
  },
  millrace_worker_slots: {
    type: 'gauge',
    help: 'Executions that the worker of this process may run at the same time.',
    labels: [],
  },
  millrace_worker_slots_in_use: {
    type: 'gauge',
    help: 'Executions that the worker of this process runs now, or is about to.',
    labels: [],
  },
  millrace_worker_data_bytes: {
    type: 'gauge',
    help: 'Inputs, outputs and responses of the executions that the worker of this process runs, as JSON.',
    labels: [],
  },
  millrace_worker_data_limit_bytes: {
    type: 'gauge',
    help: 'Budget for that data; beyond it, large executions and responses wait.',
    labels: [],
  },
  millrace_worker_responses_waiting: {
    type: 'gauge',
    help: 'Responses that wait for room in that budget before they are read.',
    labels: [],
  },
  millrace_outgoing_calls: {
    type: 'gauge',
    help: 'Calls of nodes to other hosts that are under way in this process.',
    labels: [],
  },
  millrace_outgoing_calls_waiting: {
    type: 'gauge',
    help: 'Calls that wait in this process until it is their turn to call their host.',
    labels: [],
  },
  millrace_outgoing_calls_put_off_total: {
    type: 'counter',
    help: 'Calls that would have had to wait longer; their executions were parked.',
    labels: [],
  },
  millrace_outgoing_pauses_total: {
    type: 'counter',
    help: 'Responses by which hosts asked for a pause, with 429 or 503 and Retry-After.',
    labels: [],
  },
  millrace_trace_spans_exported_total: {
    type: 'counter',
    help: 'Spans that this process sent to the collector of traces; absent without tracing.',
    labels: [],
  },
  millrace_trace_spans_dropped_total: {
    type: 'counter',
    help: 'Spans that were dropped because the collector did not take them, or not fast enough.',
    labels: [],
  },
  millrace_worker_lease_losses_total: {
    type: 'counter',
    help: 'Times that the worker of this process lost its lease.',
    labels: [],
  },
  millrace_executions_taken_over_total: {
    type: 'counter',
    help: 'Executions that this process took over from workers whose lease had expired.',
    labels: [],
  },
  millrace_database_pool_connections: {
    type: 'gauge',
    help: 'Open connections of this process to the database.',
    labels: ['pool', 'state'],
  },
  millrace_database_pool_limit: {
    type: 'gauge',
    help: 'Connections that this process may open to the database.',
    labels: ['pool'],
  },
  millrace_database_pool_waiting: {
    type: 'gauge',
    help: 'Statements and transactions that wait for a connection.',
    labels: ['pool'],
  },
  millrace_database_pool_wait_seconds: {
    type: 'gauge',
    help: 'How long the first of those that wait for a connection has been waiting.',
    labels: [],
  },
  millrace_database_up: {
    type: 'gauge',
    help: '1 if the database could be read for monitoring the last time.',
    labels: [],
  },
  millrace_database_reading_age_seconds: {
    type: 'gauge',
    help: 'Age of everything below that is read from the database.',
    labels: [],
  },
  millrace_executions: {
    type: 'gauge',
    help: 'Executions in the service that have not ended, by status, each counted up to 100,000.',
    labels: ['status'],
  },
  millrace_queue_oldest_seconds: {
    type: 'gauge',
    help: 'Age of the first execution that waits for a worker; 0 if none does.',
    labels: [],
  },
  millrace_organisation_queue_executions: {
    type: 'gauge',
    help: 'Executions that wait for a worker, for the organisations with the longest queues; held starts do not count.',
    labels: ['organisation'],
  },
  millrace_organisation_queue_oldest_seconds: {
    type: 'gauge',
    help: 'Age of the first execution that waits for a worker, for the organisations with the longest queues.',
    labels: ['organisation'],
  },
  millrace_workers: {
    type: 'gauge',
    help: 'Workers with a valid lease.',
    labels: [],
  },
  millrace_schedules_late: {
    type: 'gauge',
    help: 'Schedules that should have fired more than a minute ago.',
    labels: [],
  },
  millrace_schedules_latest_seconds: {
    type: 'gauge',
    help: 'How long ago the schedule that is latest should have fired; 0 if none is due.',
    labels: [],
  },
  millrace_organisation_storage_bytes: {
    type: 'gauge',
    help: 'What organisations store, for those that store most.',
    labels: ['organisation', 'part'],
  },
  millrace_organisation_storage_limit_bytes: {
    type: 'gauge',
    help: 'What these organisations may store, by the settings or limits of their own; absent without a limit.',
    labels: ['organisation', 'part'],
  },
  millrace_organisation_files: {
    type: 'gauge',
    help: 'Files of these organisations, including what is being written or deleted.',
    labels: ['organisation'],
  },
  millrace_database_size_bytes: {
    type: 'gauge',
    help: 'Size of the database.',
    labels: [],
  },
  millrace_database_schema_version: {
    type: 'gauge',
    help: 'The last migration of the database.',
    labels: [],
  },
} as const satisfies { readonly [name: string]: MetricInfo };

export type MetricName = keyof typeof METRICS;
