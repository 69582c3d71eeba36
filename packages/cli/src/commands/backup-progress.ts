import type { OnProgress } from '@millrace/operations/backup/progress';

const LINE_EVERY_MS = 5_000;
const REDRAW_EVERY_MS = 200;

/** Tells on standard error how far a backup or restore is: one changing line at a terminal, otherwise a line every few seconds. */
export class BackupProgress {
  readonly #verb: string;
  readonly #isShown: boolean;
  readonly #isTerminal = process.stderr.isTTY === true;
  #shownAt = performance.now();

  /** @param verb such as `Backing up` */
  constructor(verb: string, isShown: boolean) {
    this.#verb = verb;
    this.#isShown = isShown;
  }

  readonly update: OnProgress = ({ table, bytes }) => {
    const now = performance.now();
    const pauseMs = this.#isTerminal ? REDRAW_EVERY_MS : LINE_EVERY_MS;
    if (!this.#isShown || now - this.#shownAt < pauseMs) return;
    this.#shownAt = now;
    const line = `${this.#verb} ${table}: ${formatBytes(bytes)} so far`;
    process.stderr.write(this.#isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
  };

  /** Clears the line at a terminal. */
  end(): void {
    if (this.#isShown && this.#isTerminal) process.stderr.write('\r\u001b[K');
  }
}

/** For people: `340 KB`, `12.4 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} KB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
