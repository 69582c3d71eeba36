import type { Pin } from '@millrace/admin-api';
import type { Pins } from '@millrace/editor/pins/pin-keeper.ts';
import { canonicalJson, isJsonObject, type JsonValue, parseJson, stringifyJson } from '@millrace/engine';

/** Pins that were put aside, and when by the service's clock. */
export interface LeftPins {
  readonly at: number;
  readonly pins: Pins;
  /** What was on its way: when the service got it later, it is not newer for that. */
  readonly sent: Pins;
}

/** Each window puts its own aside, so that two of one person do not write over each other's. */
const WINDOW = crypto.getRandomValues(new Uint32Array(2)).join('-');

function prefixOf(userId: number, workflowId: number): string {
  return `millrace.unkept-pins.${userId}.${workflowId}.`;
}

/** Puts pins that the service has not confirmed into the browser; false when there is no room. */
export function putLeftPins(userId: number, workflowId: number, { at, pins, sent }: LeftPins): boolean {
  try {
    const text = stringifyJson({ at, pins: [...pins], sent: [...sent] });
    localStorage.setItem(prefixOf(userId, workflowId) + WINDOW, text);
    return true;
  } catch {
    return false;
  }
}

/** The service has all that this window could lose. */
export function dropLeftPins(userId: number, workflowId: number): void {
  localStorage.removeItem(prefixOf(userId, workflowId) + WINDOW);
}

/** What was put aside and never sent, oldest first; it is taken out of the browser. */
export function takeLeftPins(userId: number, workflowId: number): readonly LeftPins[] {
  const prefix = prefixOf(userId, workflowId);
  const keys = Object.keys(localStorage).filter((each) => each.startsWith(prefix));
  const found = keys.flatMap((key) => readLeft(localStorage.getItem(key) ?? ''));
  for (const key of keys) localStorage.removeItem(key);
  return found.toSorted((a, b) => a.at - b.at);
}

/** The newest of what was put aside for each node, unless the service has got a newer one from elsewhere since. */
export function newestOf(left: readonly LeftPins[], kept: readonly Pin[]): Pins {
  const byNode = new Map(kept.map((pin) => [pin.node_id, pin]));
  const newest = left.flatMap(({ at, pins, sent }) =>
    [...pins].filter(([nodeId]) => {
      const pin = byNode.get(nodeId);
      if (pin === undefined || Date.parse(pin.pinned_at) <= at) return true;
      const own = sent.get(nodeId) ?? null;
      return own !== null && canonicalJson(own) === canonicalJson(pin.output);
    }),
  );
  return new Map(newest);
}

function readLeft(text: string): readonly LeftPins[] {
  try {
    const { at, pins, sent } = parseJson(text) as { readonly [name in 'at' | 'pins' | 'sent']: JsonValue };
    return typeof at === 'number' ? [{ at, pins: readPins(pins), sent: readPins(sent) }] : [];
  } catch {
    return [];
  }
}

/** @throws TypeError when it is something else */
function readPins(value: JsonValue): Pins {
  const pins = value as readonly (readonly [string, JsonValue])[];
  const isSound = ([id, output]: readonly [string, JsonValue]) =>
    typeof id === 'string' && (output === null || isJsonObject(output));
  if (!pins.every(isSound)) throw new TypeError('these are no pins');
  return new Map(pins) as Pins;
}
