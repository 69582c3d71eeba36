import { isWithin, type Scope } from '@millrace/importer-kit/refs';

/** A place where a variable gets a value. */
interface Written {
  readonly name: string;
  /** The inside of a template for the value. */
  readonly path: string;
  readonly scope: Scope;
  /** It has a value whichever way was taken, so that nothing before it matters. */
  readonly isSure: boolean;
}

/** Where a variable is read. */
interface Reader {
  readonly scope: Scope;
  /** Whether every node that a path reads has run. */
  hasRun(path: string): boolean;
}

/**
 * Values that nodes of the original change while they run. Here nothing changes: what a node reads is what the last node before it that has run has
 * written, else what the variable began with. A node that was skipped has no output, so the first of those values that is there is the right one.
 */
export class Variables {
  readonly #written: Written[] = [];
  write(
    name: string,
    path: string,
    scope: Scope,
    { isSure = false }: { readonly isSure?: boolean } = {},
  ): void {
    this.#written.push({ name, path, scope, isSure });
  }

  mark(): number {
    return this.#written.length;
  }

  rollBack(mark: number): void {
    this.#written.length = mark;
  }

  /** The inside of a template for the current value, at a node; null if nothing was written before it. */
  read(name: string, step: Reader): string | null {
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
  const last = seen.findIndex(({ isSure }) => isSure);
  const known = last < 0 ? seen : seen.slice(0, last + 1);
  const paths = [...new Set(known.map(({ path }) => path))].slice(0, MAX_PLACES);
  return paths.length === 0 ? null : paths.join(' ?? ');
}
