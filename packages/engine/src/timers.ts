import type { Slot } from './frames.ts';

/** Something that is due for one node; void when it is not the timer of its slot any more. */
export interface Timer {
  readonly atMs: number;
  readonly slot: Slot;
}

/** With fewer timers than this it does not matter how many of them are void. */
const FEW = 1_000;

/** A binary heap, earliest first, so that thousands of parallel waits stay cheap. */
export class Timers {
  #heap: Timer[] = [];

  /** The earliest timer that still counts. */
  peek(): Timer | undefined {
    for (let timer = this.#heap[0]; timer !== undefined; timer = this.#heap[0]) {
      if (timer.slot.timer === timer) return timer;
      this.#pop();
    }
    return undefined;
  }

  /** Makes it the one timer of its slot. */
  set(slot: Slot, atMs: number): void {
    const timer = { atMs, slot };
    slot.timer = timer;
    this.#add(timer);
  }

  /** Throws void timers away when most are, so that a long loop does not keep what every iteration held. */
  tidy(nodesAtWork: number): void {
    if (this.#heap.length < FEW || this.#heap.length < 4 * nodesAtWork) return;
    const kept = this.#heap.filter((timer) => timer.slot.timer === timer);
    this.#heap = [];
    for (const timer of kept) this.#add(timer);
  }

  #add(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((heap[parent] as Timer).atMs <= timer.atMs) break;
      heap[at] = heap[parent] as Timer;
      at = parent;
    }
    heap[at] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const moved = heap.pop();
    if (moved === undefined || heap.length === 0) return;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      const right = child + 1;
      if (right < heap.length && (heap[right] as Timer).atMs < (heap[child] as Timer).atMs) child = right;
      if ((heap[child] as Timer).atMs >= moved.atMs) break;
      heap[at] = heap[child] as Timer;
      at = child;
    }
    heap[at] = moved;
  }
}
