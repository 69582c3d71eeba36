import type { LogLine } from '@millrace/engine';

/** Console lines kept per run. */
export const MAX_LOG_LINES = 200;
/** UTF-8 bytes of all of them together. */
export const MAX_LOG_BYTES = 64 * 1024;

/** Keeps what code writes to its console within limits, and notes when something was dropped. */
export class LogBook {
  readonly #onLine: (line: LogLine) => void;
  #lines = 0;
  #bytes = 0;
  #isFull = false;

  constructor(onLine: (line: LogLine) => void) {
    this.#onLine = onLine;
  }

  /** @returns whether there is room for more */
  write(level: LogLine['level'], text: string): boolean {
    if (this.#isFull) return false;
    this.#lines += 1;
    this.#bytes += Buffer.byteLength(text);
    this.#isFull = this.#lines > MAX_LOG_LINES || this.#bytes > MAX_LOG_BYTES;
    this.#onLine(
      this.#isFull
        ? {
            level: 'warn',
            text: `The rest of the log is left out: at most ${MAX_LOG_LINES} lines and ${MAX_LOG_BYTES / 1024} KiB are kept.`,
          }
        : { level, text },
    );
    return !this.#isFull;
  }
}
