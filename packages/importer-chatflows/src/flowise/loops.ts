import type { JsonValue, Work } from '@millrace/engine';
import { MISSING, type Scope, template } from '@millrace/importer-kit/refs';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import { DirectStep, type Made, type Make } from '../direct/maker.ts';
import type { Origin, OriginFlow, OriginLink } from '../direct/origin.ts';
import { contextOf } from './text.ts';

const REPEAT = '(repeat)';
const LEAVE = '(leave)';

/** Loops that the original makes by going back. */
export const LOOPS: { readonly [type: string]: Make } = {
  [REPEAT]: repeat,
  [LEAVE]: (step) => mark(step),
  loopAgentflow: (step) => {
    if (step.maker.flow.origins.get(step.origin.parent ?? '')?.type !== REPEAT)
      throw new Unmappable(message('import.goes_back', { node: targetName(step.origin) }));
    return mark(step);
  },
};

/** The id of the node that a loop goes back to: it is kept with the node's name. */
function targetOf({ data }: Origin, origins: ReadonlyMap<string, Origin>): string | null {
  const given = textOf(data.loopBackToNode);
  if (given === null) return null;
  if (origins.has(given)) return given;
  const [id = ''] = given.split('-');
  return origins.has(id) ? id : null;
}

function targetName({ data }: Origin): string {
  return textOf(data.loopBackToNode)?.replace(/^[^-]*-/, '') ?? '?';
}

/** A node that tells that a round took its branch. */
function mark(step: DirectStep): Made {
  const id = step.add('core.set', { values: { taken: true } });
  return step.result(() => `nodes.${id}.output.taken`);
}

/**
 * A flow in which each part that is repeated by going back is in a loop of its own. What is left as it is: a part that is entered at more than one place,
 * and one that overlaps another.
 */
export function withLoops(flow: OriginFlow): OriginFlow {
  const origins = new Map(flow.origins);
  let links: OriginLink[] = [...flow.links];
  const taken = new Set<string>();
  const back = Map.groupBy(
    [...flow.origins.values()].filter(({ type }) => type === 'loopAgentflow'),
    (loop) => targetOf(loop, flow.origins) ?? '',
  );
  for (const [target, loops] of back) {
    const first = flow.origins.get(target);
    if (first === undefined) continue;
    const part = between(
      target,
      loops.map(({ id }) => id),
      links,
    );
    const isWhole = [...part].every((id) => origins.get(id)?.parent === first.parent && !taken.has(id));
    const isEntered = links.every(({ from, to }) => part.has(from) || !part.has(to) || to === target);
    if (!part.has(target) || !isWhole || !isEntered || first.type === 'startAgentflow') continue;
    const id = `${REPEAT} ${target}`;
    const [loop] = loops;
    origins.set(id, {
      id,
      name: `${loop?.name ?? 'Loop'}: repeat`,
      type: REPEAT,
      parent: first.parent,
      position: first.position,
      data: { most: mostOf(loops) },
      isHelper: true,
    });
    for (const each of part) {
      taken.add(each);
      const origin = origins.get(each);
      if (origin !== undefined) origins.set(each, { ...origin, parent: id });
    }
    const leaving = links.filter(({ from, to }) => part.has(from) && !part.has(to));
    links = links.flatMap((link) => {
      if (!part.has(link.from) && link.to === target) return [{ ...link, to: id }];
      const at = leaving.indexOf(link);
      if (at < 0) return [link];
      const end = `${id} ${at}`;
      const source = origins.get(link.from);
      origins.set(end, {
        id: end,
        name: `${source?.name ?? ''}: leaves ${at + 1}`,
        type: LEAVE,
        parent: id,
        position: source?.position ?? first.position,
        data: {},
        isHelper: true,
      });
      return [
        { ...link, to: end },
        { from: id, handle: end, to: link.to },
      ];
    });
  }
  return { ...flow, origins, links };
}

/** The nodes that lie on a way from one node to others, both included. */
function between(start: string, ends: readonly string[], links: readonly OriginLink[]): ReadonlySet<string> {
  const after = reached(
    [start],
    links,
    ({ from }) => from,
    ({ to }) => to,
  );
  const before = reached(
    ends,
    links,
    ({ to }) => to,
    ({ from }) => from,
  );
  return new Set([...after].filter((id) => before.has(id)));
}

function reached(
  starts: readonly string[],
  links: readonly OriginLink[],
  from: (link: OriginLink) => string,
  to: (link: OriginLink) => string,
): ReadonlySet<string> {
  const outgoing = Map.groupBy(links, from);
  const found = new Set(starts);
  const open = [...starts];
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const link of outgoing.get(at) ?? []) {
      if (found.has(to(link))) continue;
      found.add(to(link));
      open.push(to(link));
    }
  return found;
}

function mostOf(loops: readonly Origin[]): number {
  const counts = loops
    .map(({ data }) => Number(data.maxLoopCount ?? 5))
    .filter((count) => Number.isInteger(count) && count > 0);
  return Math.min(Math.max(1, ...counts) + 1, 10_000);
}

/** A part that is repeated until a round ends without going back. What changes is passed on from round to round. */
function* repeat(step: DirectStep): Work<Made> {
  const { maker, origin } = step;
  const children = maker.childrenOf(origin.id);
  const { keys } = contextOf(step);
  const before = new Map(keys.map((key) => [key, maker.variables.read(`state ${key}`, step) ?? MISSING]));
  const id = step.add('core.repeat', {
    until: [],
    max_iterations: Number(origin.data.most ?? 6),
    on_limit: 'continue',
  });
  const scope: Scope = { id, parent: step.scope, kind: 'items', list: '' };
  const exit = [...before].length === 0 ? [] : currentState(step, scope, before);
  const result: { [name: string]: JsonValue } = {};
  const places = new Map<string, string>();
  maker.shared.set(id, (path) => {
    const name = places.get(path) ?? `r${places.size + 1}`;
    places.set(path, name);
    result[name] = template(path);
    return `nodes.${id}.output.last.${name}`;
  });
  const ids = new Set(children.map((each) => each.id));
  const roots = children.filter(
    (each) => !maker.flow.links.some(({ from, to }) => to === each.id && ids.has(from)),
  );
  yield* maker.makeLevel(roots, scope, exit);
  const share = maker.shared.get(id);
  const end = step.at(scope);
  const again: JsonValue[] = [];
  const leaving: { name: string; conditions: JsonValue[] }[] = [];
  for (const child of children) {
    const path = maker.made.get(child.id)?.read([], end) ?? null;
    if (path === null) continue;
    if (child.type === 'loopAgentflow') again.push({ left: template(path), operator: 'not_exists' });
    if (child.type === LEAVE)
      leaving.push({
        name: child.id,
        conditions: [{ left: template(share?.(path) ?? MISSING), operator: 'is_true' }],
      });
  }
  for (const [index, key] of keys.entries()) {
    result[`s${index + 1}`] = template(maker.variables.atEnd(`state ${key}`, scope) ?? MISSING);
    maker.variables.write(`state ${key}`, `nodes.${id}.output.last.s${index + 1}`, step.scope);
  }
  const config = maker.builder.config(id);
  if (config !== undefined) Object.assign(config, { until: again, result });
  if (leaving.length === 0) return step.result(() => null);
  const cases = leaving.map((each, index) => ({ name: `way ${index + 1}`, conditions: each.conditions }));
  const after = step.add('core.switch', { cases, mode: 'all_matches' }, { suffix: 'goes on' });
  return step.result(
    () => null,
    Object.fromEntries(leaving.map(({ name }, index) => [name, { id: after, handle: `way ${index + 1}` }])),
  );
}

/** The first node of a round: the state as the round before has left it. */
function currentState(step: DirectStep, scope: Scope, before: ReadonlyMap<string, string>) {
  const inner = new DirectStep(step.maker, step.origin, scope, []);
  const keys = [...before.keys()];
  const id = inner.add(
    'core.set',
    {
      values: Object.fromEntries(
        keys.map((key, index) => [
          `s${index + 1}`,
          template(`index == 0 ? (${before.get(key) ?? MISSING}) : item.s${index + 1}`),
        ]),
      ),
    },
    { suffix: 'state' },
  );
  for (const [index, key] of keys.entries())
    step.maker.variables.write(`state ${key}`, `nodes.${id}.output.s${index + 1}`, scope, { isSure: true });
  return inner.after;
}
