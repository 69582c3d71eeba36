import type { StepEvent } from '@millrace/engine';
import { yieldTurn } from './turns.ts';

/** Events of an execution that weren't passed to the engine yet, in order. */
export class EventQueue {
  #events: StepEvent[] = [];
  #wake: (() => void) | null = null;

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  push(event: StepEvent): void {
    this.#events.push(event);
    this.#wake?.();
  }

  /** All of them, without waiting. */
  take(): StepEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Waits for one, and returns it with those of the same turn. */
  async next(): Promise<StepEvent[]> {
    if (this.isEmpty) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    await yieldTurn();
    return this.take();
  }
}
