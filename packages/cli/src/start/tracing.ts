import type { Meters } from '@millrace/runtime/meters/meters';
import { SpanQueue } from '@millrace/runtime/tracing/span-queue';
import { createSampler, Tracer } from '@millrace/runtime/tracing/tracer';
import type { Logger } from 'pino';
import type { Config } from '../settings/config.ts';

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what waits, within a few seconds. */
  stop(): Promise<void>;
}

/** How long the end of the process waits for the collector. */
const MAX_STOP_MS = 5_000;

/** Makes traces and sends them to a collector, if one is configured. OpenTelemetry's libraries are loaded only then. */
export async function startTracing(
  { tracing }: Pick<Config, 'tracing'>,
  { meters, log }: { readonly meters: Meters; readonly log: Logger },
): Promise<Tracing | null> {
  if (tracing === null) return null;
  const { createOtlpExporter } = await import('./otlp.ts');
  const exporter = await createOtlpExporter(tracing);
  const { maxSpans, batchSpans, delayMs, sampler, ratio, propagates, url, timeoutMs } = tracing;
  const queue = new SpanQueue({
    send: (spans) => exporter.send(spans),
    maxSpans,
    batchSpans,
    delayMs,
    onFailure: (error) =>
      log.warn(
        { url, err: error },
        'could not send traces; spans are dropped until the collector takes them again',
      ),
  });
  meters.spans = () => queue.counts;
  log.info({ url }, 'traces are sent');
  return {
    tracer: new Tracer({
      sampler: createSampler(sampler, ratio),
      propagates,
      onSpan: (span) => queue.add(span),
    }),
    async stop() {
      await queue.stop(Math.min(timeoutMs, MAX_STOP_MS));
      await exporter.close();
    },
  };
}
