import { ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';

interface Gate {
  inside: number;
  readonly waiting: (() => void)[];
}

/** Limits how many may enter at once per name; the others queue in order. */
export function createGates(slots: number) {
  const gates = new Map<string, Gate>();
  const leave = (name: string, gate: Gate): void => {
    const next = gate.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    gate.inside -= 1;
    if (gate.inside === 0) gates.delete(name);
  };
  return {
    /**
     * Waits for a slot.
     * @returns a function that releases it
     * @throws ServiceError `aborted`
     */
    async enter(name: string, signal: AbortSignal): Promise<() => void> {
      if (signal.aborted) throw aborted();
      const gate = gates.get(name) ?? { inside: 0, waiting: [] };
      gates.set(name, gate);
      if (gate.inside < slots) gate.inside += 1;
      else await waitForPlace(gate, signal);
      return () => leave(name, gate);
    },
  };
}

function waitForPlace(gate: Gate, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const admit = (): void => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    const giveUp = (): void => {
      gate.waiting.splice(gate.waiting.indexOf(admit), 1);
      reject(aborted());
    };
    gate.waiting.push(admit);
    signal.addEventListener('abort', giveUp, { once: true });
  });
}

function aborted(): ServiceError {
  return new ServiceError('aborted', message('ports.query_aborted'), { retryable: true });
}
