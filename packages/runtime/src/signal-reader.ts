import type { StoredSignal } from '@millrace/engine';

interface SignalReaderOptions {
  readonly read: (afterSeq: number) => Promise<readonly StoredSignal[]>;
  readonly onSignal: (signal: StoredSignal) => void;
  /** All up to this one have been read. */
  readonly onSeen: (seq: number) => void;
  /** The next {@link SignalReader.look} reads again. */
  readonly onFailure: (error: unknown) => void;
}

/** Reads the signals of one execution, one statement at a time; a request meanwhile makes it read once more. */
export class SignalReader {
  readonly #options: SignalReaderOptions;
  #seen = 0;
  #isReading = false;
  #mustReadAgain = false;

  constructor(options: SignalReaderOptions) {
    this.#options = options;
  }

  /** The engine has these, so they needn't be read. */
  saw(signals: readonly StoredSignal[]): void {
    const last = signals.at(-1);
    if (last === undefined) return;
    this.#seen = last.seq;
    this.#options.onSeen(last.seq);
  }

  /** There may be new ones. */
  look(): void {
    this.#mustReadAgain = true;
    if (!this.#isReading) void this.#read();
  }

  async #read(): Promise<void> {
    const { read, onSignal, onFailure } = this.#options;
    this.#isReading = true;
    while (this.#mustReadAgain) {
      this.#mustReadAgain = false;
      try {
        const signals = await read(this.#seen);
        this.saw(signals);
        for (const signal of signals) onSignal(signal);
      } catch (error) {
        onFailure(error);
      }
    }
    this.#isReading = false;
  }
}
