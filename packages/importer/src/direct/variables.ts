import { isWithin, type Scope } from '../refs.ts';
import type { DirectStep } from './maker.ts';

/** A place where a variable gets a value. */
interface Written {
  readonly name: string;
  /** The inside of a template for the value. */
  readonly path: string;
  readonly scope: Scope;
}

/**
 * Values that nodes of the original change while they run. Here nothing changes: what a node reads is what the last node before it that has run has
 * written, else what the variable began with. A node that was skipped has no output, so the first of those values that is there is the right one.
 */
export class Variables {
  readonly #written: Written[] = [];
  write(name: string, path: string, scope: Scope): void {
    this.#written.push({ name, path, scope });
  }

  mark(): number {
    return this.#written.length;
  }

  rollBack(mark: number): void {
    this.#written.length = mark;
  }

  /** The inside of a template for the current value, at a node; null if nothing was written before it. */
  read(name: string, step: DirectStep): string | null {
    const seen = this.#written
      .filter((each) => each.name === name && isWithin(step.scope, each.scope) && step.hasRun(each.path))
      .toReversed();
    return joined(seen);
  }

  /** The value at the end of a loop's body, in which everything has run. */
  atEnd(name: string, scope: Scope): string | null {
    return joined(this.#written.filter((each) => each.name === name && each.scope === scope).toReversed());
  }
}

/** As many as are named one after the other. */
const MAX_PLACES = 20;

function joined(seen: readonly Written[]): string | null {
  const paths = [...new Set(seen.map(({ path }) => path))].slice(0, MAX_PLACES);
  return paths.length === 0 ? null : paths.join(' ?? ');
}
