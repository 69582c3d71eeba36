import { KeepAliveClient } from './http.ts';

/** The same page, or anything else that is read, repeatedly, one request after the other. */
export interface Sequence {
  readonly kind: 'sequence';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly count: number;
  /** How many pages to follow from the first, by `next_cursor`, before the measured one. */
  readonly skipPages: number;
}

export interface SequenceResult {
  /** Milliseconds per request. */
  readonly tookMs: readonly number[];
  /** Items on the measured page; 0 if it isn't one. */
  readonly items: number;
}

/** A page of either API, or something else without items. */
interface Page {
  readonly data?: readonly unknown[];
  readonly pagination?: { readonly next_cursor: string | null };
  readonly items?: readonly unknown[];
  readonly next_cursor?: string | null;
}

/** @throws if a response is not 200 or there are too few pages */
export async function runSequence(job: Sequence): Promise<SequenceResult> {
  const client = new KeepAliveClient();
  const read = async (url: string): Promise<Page> => {
    const answer = await client.send('GET', url, job.headers);
    if (answer.status !== 200) throw new Error(`${url} was answered with ${answer.status}: ${answer.body}`);
    return JSON.parse(answer.body) as Page;
  };
  try {
    let url = job.url;
    for (let page = 0; page < job.skipPages; page += 1) {
      const { pagination, next_cursor } = await read(url);
      const cursor = pagination?.next_cursor ?? next_cursor ?? null;
      if (cursor === null) throw new Error(`there are only ${page + 1} pages at ${job.url}`);
      url = `${job.url}&cursor=${encodeURIComponent(cursor)}`;
    }
    const { data, items } = await read(url);
    const tookMs: number[] = [];
    for (let index = 0; index < job.count; index += 1) {
      const sentAt = performance.now();
      await read(url);
      tookMs.push(performance.now() - sentAt);
    }
    return { tookMs, items: (data ?? items ?? []).length };
  } finally {
    client.close();
  }
}
