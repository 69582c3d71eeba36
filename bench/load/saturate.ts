import autocannon from 'autocannon';

/** As many requests as `connections` connections can handle, one in progress on each. */
export interface Saturation {
  readonly kind: 'saturate';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
  /** Name of a header with a new value for every request; null for none. */
  readonly freshHeader: string | null;
}

export interface SaturationResult {
  /** Completed requests, all with 202. */
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Posts for the given time.
 * @throws if any response was not 202 or any connection failed: such a run measures nothing
 */
export async function saturate(job: Saturation): Promise<SaturationResult> {
  const { freshHeader } = job;
  const result = await autocannon({
    url: job.url,
    method: 'POST',
    headers: job.headers,
    body: job.body,
    connections: job.connections,
    duration: job.seconds,
    ...(freshHeader === null ? {} : { requests: [{ setupRequest: withFreshHeader(freshHeader) }] }),
  });
  const accepted = result.statusCodeStats['202']?.count ?? 0;
  const answered = Object.values(result.statusCodeStats).reduce((sum, { count }) => sum + count, 0);
  if (result.errors > 0 || accepted === 0 || accepted !== answered) {
    const answers = Object.entries(result.statusCodeStats).map(
      ([code, { count }]) => `${count} times ${code}`,
    );
    throw new Error(
      `${job.url} did not answer every request with 202: ${answers.join(', ') || 'no answer'}, ${result.errors} failed connections`,
    );
  }
  return {
    requests: accepted,
    perSecond: accepted / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
}

function withFreshHeader(name: string) {
  return (request: autocannon.Request): autocannon.Request => ({
    ...request,
    headers: { ...request.headers, [name]: crypto.randomUUID() },
  });
}
