import type { JsonObject, Work } from '@millrace/engine';
import type { Position } from '@millrace/importer-kit/flow-builder';
import type { OriginalNode } from '@millrace/importer-kit/report';
import { withoutSecrets } from '@millrace/importer-kit/secrets';

/** A node of a product whose nodes have one output each, as they have here. */
export interface Origin {
  readonly id: string;
  /** What people see, made unique. */
  readonly name: string;
  readonly type: string;
  /** The loop whose body it is in. */
  readonly parent: string | null;
  readonly position: Position;
  readonly data: JsonObject;
  /** It stands for no node of the original. */
  readonly isHelper?: true;
}

export interface OriginLink {
  readonly from: string;
  readonly handle: string;
  readonly to: string;
}

/** A note on the original's canvas. */
export interface OriginNote {
  readonly name: string;
  readonly type: string;
  readonly text: string;
  readonly position: Position;
  readonly width: number;
  readonly height: number;
}

/** A workflow before it is made. */
export interface OriginFlow {
  readonly name: string;
  readonly origins: ReadonlyMap<string, Origin>;
  readonly links: readonly OriginLink[];
  readonly notes: readonly OriginNote[];
}

/** Leaves out secrets that were written into nodes. @returns also the nodes that had one */
export function* cleanFlow<Given extends OriginFlow>(
  flow: Given,
): Work<{ readonly flow: Given; readonly withSecret: readonly Origin[] }> {
  const withSecret: Origin[] = [];
  const origins = new Map<string, Origin>();
  for (const [id, origin] of flow.origins) {
    yield 1;
    const { value, found } = withoutSecrets(origin.data);
    if (found) withSecret.push(origin);
    origins.set(id, { ...origin, data: value });
  }
  return { flow: { ...flow, origins }, withSecret };
}

/** A node as the report names it. */
export function reported({ name, type }: Origin): OriginalNode {
  return { node: name, type };
}

/** Names that occur once each: the report is kept by name. */
export class UniqueNames {
  readonly #taken = new Set<string>();

  of(wanted: string): string {
    let name = wanted;
    for (let number = 2; this.#taken.has(name); number += 1) name = `${wanted} (${number})`;
    this.#taken.add(name);
    return name;
  }
}

/** The nodes of one level in an order in which each comes after those before it, and the links that lead back. */
export interface Ordered {
  readonly order: readonly Origin[];
  readonly cycles: readonly OriginLink[];
}

/** Orders what these nodes lead to, on their level. Without recursion: a hostile file may have a very long path. */
export function orderFrom(
  roots: readonly Origin[],
  level: ReadonlyMap<string, Origin>,
  links: readonly OriginLink[],
): Ordered {
  const outgoing = Map.groupBy(
    links.filter(({ from, to }) => level.has(from) && level.has(to)),
    ({ from }) => from,
  );
  const state = new Map<string, 'open' | 'done'>();
  const finished: Origin[] = [];
  const cycles: OriginLink[] = [];
  for (const root of roots.toReversed()) {
    if (state.has(root.id)) continue;
    state.set(root.id, 'open');
    const stack = [{ origin: root, next: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const link = outgoing.get(top.origin.id)?.[top.next];
      top.next += 1;
      if (link === undefined) {
        state.set(top.origin.id, 'done');
        finished.push(top.origin);
        stack.pop();
        continue;
      }
      const target = level.get(link.to);
      if (target === undefined) continue;
      if (state.get(target.id) === 'open') cycles.push(link);
      if (state.has(target.id)) continue;
      state.set(target.id, 'open');
      stack.push({ origin: target, next: 0 });
    }
  }
  return { order: finished.toReversed(), cycles };
}
