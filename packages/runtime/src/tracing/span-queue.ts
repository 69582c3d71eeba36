import type { FinishedSpan } from './tracer.ts';

export interface SpanQueueOptions {
  /** Sends a batch to the collector; rejects if it wasn't taken. */
  readonly send: (spans: readonly FinishedSpan[]) => Promise<void>;
  /** Spans that may wait; more are dropped. */
  readonly maxSpans: number;
  /** Spans that one request to the collector carries. */
  readonly batchSpans: number;
  /** How long a span waits for others, in milliseconds. */
  readonly delayMs: number;
  /** Called with the first failure, and again with the first one after a success. */
  readonly onFailure: (error: unknown) => void;
}

/** What has become of the spans of this process. */
export interface SpanCounts {
  readonly exported: number;
  readonly dropped: number;
}

/** Spans on their way to the collector: nobody waits for it, and while it is away, no more are kept than fit. */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  #waiting: FinishedSpan[] = [];
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  #isFailing = false;
  #exported = 0;
  #dropped = 0;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  add(span: FinishedSpan): void {
    const { maxSpans, batchSpans, delayMs } = this.#options;
    if (this.#waiting.length >= maxSpans) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= batchSpans) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), delayMs).unref();
  }

  get counts(): SpanCounts {
    return { exported: this.#exported, dropped: this.#dropped };
  }

  /** Sends what waits, for this long at most; what is left then is dropped. */
  async stop(patienceMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    }).then(() => {
      isOver = true;
    });
    while (!isOver && (this.#sending !== null || this.#waiting.length > 0)) {
      this.#send();
      await Promise.race([this.#sending, patience]);
    }
    clearTimeout(timer);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#dropped += this.#waiting.splice(0).length;
  }

  /** One batch at a time. */
  #send(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#sending !== null || this.#waiting.length === 0) return;
    const { batchSpans, delayMs } = this.#options;
    const batch = this.#waiting.splice(0, batchSpans);
    this.#sending = this.#sendBatch(batch).then(() => {
      this.#sending = null;
      if (this.#waiting.length >= batchSpans) this.#send();
      else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#send(), delayMs).unref();
    });
  }

  async #sendBatch(batch: readonly FinishedSpan[]): Promise<void> {
    try {
      await this.#options.send(batch);
      this.#exported += batch.length;
      this.#isFailing = false;
    } catch (error) {
      this.#dropped += batch.length;
      if (!this.#isFailing) this.#options.onFailure(error);
      this.#isFailing = true;
    }
  }
}
