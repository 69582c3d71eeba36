import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { SERVICE_VERSION } from '@millrace/api/version';
import type { TraceContext } from '@millrace/runtime/tracing/trace-context';
import type { FinishedSpan } from '@millrace/runtime/tracing/tracer';
import { type SpanContext, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { TracingSettings } from '../settings/config.ts';

/** Sends spans by OTLP over HTTP. */
export async function createOtlpExporter(settings: TracingSettings) {
  const { url, headers, timeoutMs, protocol } = settings;
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: timeoutMs });
  const resource = resourceOf(settings);
  return {
    /** Rejects if the collector didn't take them, after repetitions. */
    send: (spans: readonly FinishedSpan[]) =>
      new Promise<void>((resolve, reject) => {
        exporter.export(
          spans.map((span) => toReadable(span, resource)),
          ({ code, error }) => {
            if (code === EXPORTED) resolve();
            else reject(error ?? new Error('the collector did not take the spans'));
          },
        );
      }),
    close: () => exporter.shutdown(),
  };
}

/** `ExportResultCode.SUCCESS` */
const EXPORTED = 0;

type ReadableSpan = Parameters<
  InstanceType<typeof import('@opentelemetry/exporter-trace-otlp-proto')['OTLPTraceExporter']>['export']
>[0][number];

function resourceOf({ serviceName, attributes }: TracingSettings): Resource {
  return resourceFromAttributes({
    'service.version': SERVICE_VERSION,
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    'process.pid': process.pid,
    ...attributes,
    'service.name': serviceName,
  });
}

const KINDS = { server: SpanKind.SERVER, internal: SpanKind.INTERNAL, client: SpanKind.CLIENT } as const;
const SCOPE = { name: 'millrace', version: SERVICE_VERSION };

function toReadable(span: FinishedSpan, resource: Resource): ReadableSpan {
  const { context, parentSpanId, name, kind, startMs, errorCode } = span;
  // A clock that was set back must not make a span end before it starts.
  const endMs = Math.max(span.endMs, startMs);
  const spanContext = toSpanContext(context);
  return {
    name,
    kind: KINDS[kind],
    spanContext: () => spanContext,
    ...(parentSpanId === null
      ? {}
      : { parentSpanContext: toSpanContext({ ...context, spanId: parentSpanId }) }),
    startTime: toHrTime(startMs),
    endTime: toHrTime(endMs),
    duration: toHrTime(endMs - startMs),
    status:
      errorCode === null
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: errorCode },
    attributes: errorCode === null ? span.attributes : { ...span.attributes, 'error.type': errorCode },
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function toSpanContext({ traceId, spanId, isSampled }: TraceContext): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE };
}

/** Seconds and nanoseconds. */
function toHrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}
