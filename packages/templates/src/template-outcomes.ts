import type { JsonValue } from '@millrace/values/json';
import type { Work } from '@millrace/values/work';

/** Thrown in the middle of rendering: what has been computed is kept, and rendering begins again after a pause. */
export class PauseError extends Error {
  /** Long work that has to be done before it begins again; its outcome is kept, too. Null for a pause only. */
  readonly work: Work<void> | null;

  constructor(work: Work<void> | null) {
    super('rendering goes on later');
    this.work = work;
  }
}

/** What a part of a template came to. */
interface Outcome {
  /** The part. */
  readonly of: object;
  readonly value: JsonValue;
  readonly steps: number;
  /** Bytes of text that it used up. */
  readonly bytes: number;
}

/** What rendering has used up. */
export interface Spent {
  steps: number;
  left: number;
}

/**
 * Lets rendering pause although it calls itself at any depth: it stops by an error and begins again from the start, with the outcomes that it had.
 * The same template and data always ask for the same outcomes in the same order, so an outcome is found by its place. One that belongs to
 * another part is of something inside the part that is asked for, which then hadn't ended; when a part ends, its outcome takes the place of those inside it.
 */
export class Outcomes {
  readonly #known: Outcome[] = [];
  readonly #spent: Spent;
  readonly #pauseAfter: number;
  #next = 0;
  /** Steps taken when the last known outcome was used: what came before was computed in an earlier turn. */
  #knownSteps = 0;
  /** Whether there is a new one since rendering began again: without, a pause would only lead to the same pause. */
  #hasNew = false;

  /** @param pauseAfter steps that may be taken at a stretch */
  constructor(spent: Spent, pauseAfter: number) {
    this.#spent = spent;
    this.#pauseAfter = pauseAfter;
  }

  /** Rendering begins again. */
  rewind(): void {
    this.#next = 0;
    this.#knownSteps = 0;
    this.#hasNew = false;
  }

  /** Steps since the last outcome that was known. */
  get fresh(): number {
    return this.#spent.steps - this.#knownSteps;
  }

  /**
   * What a part comes to, from an earlier turn if it is known.
   * @param long the same in pieces; null if it is short. What it takes from inside the part, it takes for its work
   * @throws PauseError
   */
  take(part: object, atOnce: () => JsonValue, long: () => Work<JsonValue> | null): JsonValue {
    const place = this.#next;
    const known = this.#known[place];
    if (known?.of === part) {
      const spent = this.#spent;
      spent.steps += known.steps;
      spent.left -= known.bytes;
      this.#next += 1;
      this.#knownSteps = spent.steps;
      return known.value;
    }
    const before = this.#spentBefore();
    const work = long();
    if (work !== null) throw new PauseError(this.#workOn(part, place, work, before));
    if (known === undefined && this.#hasNew && this.fresh > this.#pauseAfter) throw new PauseError(null);
    const value = atOnce();
    this.#keep(part, place, value, before);
    return value;
  }

  /** @param before what was spent before it was known to be long */
  *#workOn(part: object, place: number, work: Work<JsonValue>, before: Spent): Work<void> {
    this.#keep(part, place, yield* work, before);
  }

  #spentBefore(): Spent {
    return { steps: this.#spent.steps, left: this.#spent.left };
  }

  #keep(part: object, place: number, value: JsonValue, before: Spent): void {
    const { steps, left } = this.#spent;
    this.#known.length = place;
    this.#known.push({ of: part, value, steps: steps - before.steps, bytes: before.left - left });
    this.#next = place + 1;
    this.#hasNew = true;
  }
}
