import type { Pin } from '@millrace/admin-api';
import type { Pins } from '@millrace/editor/pins/pin-sync.ts';
import { canonicalJson, isJsonObject, type JsonValue } from '@millrace/engine';
import { type WindowStore, windowStore } from '../draft/window-store.ts';

/** Pins stored in the browser, and when by the service's clock. */
export interface LeftPins {
  readonly at: number;
  readonly pins: Pins;
  /** Pins that were in flight: arriving later at the service doesn't make them newer. */
  readonly sent: Pins;
}

/** Pins of a workflow stored by a user's windows. */
export function leftPins(userId: number, workflowId: number): WindowStore<LeftPins> {
  return windowStore('unkept-pins', userId, workflowId, (value) => {
    const { at, pins, sent } = value as { readonly [name in 'at' | 'pins' | 'sent']: JsonValue };
    return typeof at === 'number' ? { at, pins: readPins(pins), sent: readPins(sent) } : null;
  });
}

/** Stores unconfirmed pins in the browser; false if there is no room. */
export function putLeftPins(store: WindowStore<LeftPins>, { at, pins, sent }: LeftPins): boolean {
  return store.put({ at, pins: [...pins], sent: [...sent] });
}

/** The newest stored pin of each node, unless the service has since received a newer one from elsewhere. */
export function newestOf(left: Iterable<LeftPins>, kept: readonly Pin[]): Pins {
  const byNode = new Map(kept.map((pin) => [pin.node_id, pin]));
  const oldestFirst = [...left].toSorted((a, b) => a.at - b.at);
  const newest = oldestFirst.flatMap(({ at, pins, sent }) =>
    [...pins].filter(([nodeId]) => {
      const pin = byNode.get(nodeId);
      if (pin === undefined || Date.parse(pin.pinned_at) <= at) return true;
      const own = sent.get(nodeId) ?? null;
      return own !== null && canonicalJson(own) === canonicalJson(pin.output);
    }),
  );
  return new Map(newest);
}

/** @throws TypeError if the value isn't a record of pins */
function readPins(value: JsonValue): Pins {
  const pins = value as readonly (readonly [string, JsonValue])[];
  const isSound = ([id, output]: readonly [string, JsonValue]) =>
    typeof id === 'string' && (output === null || isJsonObject(output));
  if (!pins.every(isSound)) throw new TypeError('these are not pins');
  return new Map(pins) as Pins;
}
