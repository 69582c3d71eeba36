import { Meter, type NodeContext, type Work } from '@millrace/engine';
import { message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
import { type Holder, hold } from './main-thread.ts';
import { isTurnSpent, yieldTurn } from './turns.ts';

/** Thrown when work exceeds its steps. */
export class TooExpensiveError extends ExplainedError {
  readonly code = 'node_too_expensive';
  constructor(maxSteps: number) {
    super(message('run.node_too_expensive', { max: maxSteps }));
    this.name = 'TooExpensiveError';
  }
}

/** Thrown when work is aborted in the middle. */
export class AbortedWorkError extends Error {}

export interface DriveOptions {
  readonly holder: Holder;
  /** Maximum steps. They are counted, not timed, so a repetition fails where the first run did. */
  readonly maxSteps: number;
  readonly isAborted: () => boolean;
}

/**
 * Runs work, a turn of the event loop at a time; work that fits into what is left of this turn has ended on return.
 * @throws TooExpensiveError, AbortedWorkError
 */
export function drive<Result>(work: Work<Result>, options: DriveOptions): Result | Promise<Result> {
  const driver = new Driver(work, options);
  const ended = driver.advance();
  return ended === null ? driver.finish() : ended.result;
}

/** What a node's context offers for long work, where nothing is recorded of it. */
export function inTurnsWithin(options: DriveOptions): NodeContext['inTurns'] {
  return async (make) => await drive(make(new Meter()), options);
}

/** {@link drive} for work that must be done and whose data is bounded: it is neither counted nor aborted. */
export function driveUnlimited<Result>(work: Work<Result>, holder: Holder): Result | Promise<Result> {
  return drive(work, { holder, maxSteps: Number.POSITIVE_INFINITY, isAborted: () => false });
}

class Driver<Result> {
  readonly #work: Work<Result>;
  readonly #options: DriveOptions;
  #steps = 0;

  constructor(work: Work<Result>, options: DriveOptions) {
    this.#work = work;
    this.#options = options;
  }

  async finish(): Promise<Result> {
    for (;;) {
      await yieldTurn();
      if (this.#options.isAborted()) {
        this.#giveUp();
        throw new AbortedWorkError();
      }
      const ended = this.advance();
      if (ended !== null) return ended.result;
    }
  }

  /** Works until the turn is used up; null if there is more to do. */
  advance(): { readonly result: Result } | null {
    return hold(this.#options.holder, () => {
      do {
        const { done, value } = this.#work.next();
        if (done === true) return { result: value };
        this.#steps += value;
        if (this.#steps > this.#options.maxSteps) {
          this.#giveUp();
          throw new TooExpensiveError(this.#options.maxSteps);
        }
      } while (!isTurnSpent());
      return null;
    });
  }

  #giveUp(): void {
    this.#work.return(undefined as never);
  }
}
