import type { N8nLink } from './read.ts';

/** Which branches lead to a node, so that it is known whether two outputs can pass on the same item. */
export class Guards {
  readonly #guards = new Map<string, ReadonlySet<string>>();
  readonly #incoming: ReadonlyMap<string, readonly N8nLink[]>;
  readonly #outgoing: ReadonlyMap<string, readonly N8nLink[]>;

  constructor(links: readonly N8nLink[]) {
    this.#incoming = Map.groupBy(links, ({ to }) => to);
    this.#outgoing = Map.groupBy(links, ({ from }) => from);
  }

  /** Remembers that what one of several triggers passes on is there only if that trigger, and no other, has started the execution. */
  noteTrigger(name: string, isRouter: boolean): void {
    for (const { output } of this.#outgoing.get(name) ?? []) {
      const own = isRouter ? [`${name}\n${output}`] : [];
      this.#guards.set(`${name}\n${output}`, new Set([`\n${name}`, ...own]));
    }
  }

  /** Remembers which branches a node is on, after those before it. */
  note(name: string, isRouter: boolean): void {
    const sets = (this.#incoming.get(name) ?? []).map((link) => this.#of(link));
    const [first = new Set<string>(), ...others] = sets;
    const common = new Set([...first].filter((guard) => others.every((other) => other.has(guard))));
    for (const { output } of this.#outgoing.get(name) ?? []) {
      const own = isRouter ? new Set([...common, `${name}\n${output}`]) : common;
      this.#guards.set(`${name}\n${output}`, own);
    }
  }

  /** Whether of two outputs at most one passes something on, for the same item. */
  areExclusive(left: N8nLink, right: N8nLink): boolean {
    const routes = new Map([...this.#of(left)].map((guard) => guard.split('\n') as [string, string]));
    return [...this.#of(right)].some((guard) => {
      const [router = '', output] = guard.split('\n');
      const known = routes.get(router);
      return known !== undefined && known !== output;
    });
  }

  #of({ from, output }: N8nLink): ReadonlySet<string> {
    return this.#guards.get(`${from}\n${output}`) ?? new Set();
  }
}
