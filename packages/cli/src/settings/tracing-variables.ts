import { SAMPLERS } from '@millrace/runtime/tracing/tracer';
import { integer, list, oneOf, pairs, share, text, webAddress } from './variable.ts';

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
export type OtlpProtocol = (typeof PROTOCOLS)[number];

/** Traces. The names are OpenTelemetry's own; they are only read if an endpoint is set. */
export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress({
    about:
      'OpenTelemetry collector to which this process sends traces, below /v1/traces; none are made if neither this nor OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set. See monitoring.md',
    fallback: '',
    example: 'http://127.0.0.1:4318',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: webAddress({
    about: 'The whole address to which traces are sent, instead of OTEL_EXPORTER_OTLP_ENDPOINT',
    fallback: '',
    example: 'http://127.0.0.1:4318/v1/traces',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf({
    about: 'How traces are sent',
    fallback: 'http/protobuf',
    example: 'http/json',
    values: PROTOCOLS,
  }),
  OTEL_EXPORTER_OTLP_HEADERS: pairs({
    about: 'Headers of requests to the collector',
    fallback: '',
    example: 'authorization=Bearer%20secret',
    secret: true,
  }),
  OTEL_EXPORTER_OTLP_TIMEOUT: integer({
    about: 'Time for a request to the collector, repetitions included',
    fallback: '10000',
    example: '5000',
    min: 100,
    max: 60_000,
    unit: 'milliseconds',
  }),
  OTEL_SERVICE_NAME: text({
    about: 'Name of the service in traces',
    fallback: 'millrace',
    example: 'millrace-worker',
    allowed: 'a text of up to 255 characters',
    pattern: /^.{1,255}$/u,
  }),
  OTEL_RESOURCE_ATTRIBUTES: pairs({
    about: 'What else traces say of this process',
    fallback: '',
    example: 'deployment.environment.name=production',
  }),
  OTEL_TRACES_SAMPLER: oneOf({
    about: 'Which traces are recorded; with parentbased_, the header of the request decides if there is one',
    fallback: 'parentbased_always_on',
    example: 'parentbased_traceidratio',
    values: SAMPLERS,
  }),
  OTEL_TRACES_SAMPLER_ARG: share({
    about: 'The part of all traces that a sampler with a ratio records',
    fallback: '1',
    example: '0.1',
  }),
  OTEL_PROPAGATORS: list({
    about:
      'Whether traceparent headers are read from requests and sent with calls (tracecontext) or not (none); baggage is ignored',
    fallback: 'tracecontext,baggage',
    example: 'none',
    allowed: 'tracecontext, baggage or none, separated by commas',
    pattern: /^(tracecontext|baggage|none)$/,
  }),
  OTEL_BSP_MAX_QUEUE_SIZE: integer({
    about: 'Spans that may wait in this process to be sent; more are dropped',
    fallback: '2048',
    example: '10000',
    min: 1,
    max: 1_000_000,
  }),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: integer({
    about: 'Spans in one request to the collector',
    fallback: '512',
    example: '2000',
    min: 1,
    max: 10_000,
  }),
  OTEL_BSP_SCHEDULE_DELAY: integer({
    about: 'How long a span waits to be sent with others',
    fallback: '5000',
    example: '1000',
    min: 10,
    max: 60_000,
    unit: 'milliseconds',
  }),
};
