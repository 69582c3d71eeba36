import { KeepAliveClient } from './http.ts';

/** The same page repeatedly, one request after the other. */
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
  /** Items on the measured page. */
  readonly items: number;
}

interface Page {
  readonly data: readonly unknown[];
  readonly pagination: { readonly next_cursor: string | null };
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
      const { next_cursor: cursor } = (await read(url)).pagination;
      if (cursor === null) throw new Error(`there are only ${page + 1} pages at ${job.url}`);
      url = `${job.url}&cursor=${encodeURIComponent(cursor)}`;
    }
    const items = (await read(url)).data.length;
    const tookMs: number[] = [];
    for (let index = 0; index < job.count; index += 1) {
      const sentAt = performance.now();
      await read(url);
      tookMs.push(performance.now() - sentAt);
    }
    return { tookMs, items };
  } finally {
    client.close();
  }
}
