import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '@millrace/engine';
import { arrayOf, textOf } from './read.ts';

const TRIGGER = /trigger$|\.(?:webhook|start|cron|interval)$/i;

/** Nodes, perhaps with a trigger that wasn't among them. */
export interface StartedPart {
  readonly value: JsonValue;
  /** The name of the trigger that was added; null: none was missing. */
  readonly added: string | null;
}

/** Copied nodes, with a manual trigger that leads to those nothing leads to, unless one of them starts the others. */
export function withTrigger(value: JsonValue): StartedPart {
  const same = { value, added: null };
  if (!isJsonObject(value)) return same;
  const nodes = arrayOf(value.nodes).filter(isJsonObject);
  if (nodes.length === 0 || nodes.some(({ type }) => TRIGGER.test(textOf(type) ?? ''))) return same;
  const names = nodes.flatMap(({ name }) => textOf(name) ?? []);
  const name = freeName(new Set(names));
  const connections: JsonObject = isJsonObject(value.connections ?? null)
    ? (value.connections as JsonObject)
    : {};
  const reached = new Set(targetsIn(connections));
  const first = names.filter((each) => !reached.has(each));
  const trigger = {
    name,
    type: 'n8n-nodes-base.manualTrigger',
    typeVersion: 1,
    parameters: {},
    position: placeBefore(nodes),
  };
  const linked: { [name: string]: JsonValue } = {};
  for (const [from, each] of Object.entries(connections)) setOwn(linked, from, each);
  setOwn(linked, name, { main: [first.map((node) => ({ node, type: 'main', index: 0 }))] });
  return { value: { ...value, nodes: [trigger, ...nodes], connections: linked }, added: name };
}

function freeName(taken: ReadonlySet<string>): string {
  let name = 'Start';
  while (taken.has(name)) name += '_';
  return name;
}

/** Names of the nodes that any connection leads to. */
function targetsIn(value: JsonValue): string[] {
  const found: string[] = [];
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) open.push(...next);
    else if (isJsonObject(next)) {
      if (typeof next.node === 'string') found.push(next.node);
      else open.push(...(Object.values(next) as JsonValue[]));
    }
  }
  return found;
}

function placeBefore(nodes: readonly JsonObject[]): JsonValue {
  const places = nodes.map(({ position }) =>
    arrayOf(position).map((axis) => (typeof axis === 'number' ? axis : 0)),
  );
  return [Math.min(...places.map(([x = 0]) => x)) - 240, Math.min(...places.map(([, y = 0]) => y))];
}
