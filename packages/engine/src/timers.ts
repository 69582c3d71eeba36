/** A timer of one slot; void once the slot has another one. */
export interface Timer<Slot> {
  readonly atMs: number;
  readonly slot: Slot;
}

/** A slot knows its current timer. */
interface Timed<Slot> {
  timer: Timer<Slot> | null;
}

/** With fewer timers than this, void ones don't matter. */
const FEW = 1_000;

/** A binary heap, earliest first, so that thousands of parallel waits stay cheap. */
export class Timers<Slot extends Timed<Slot>> {
  #heap: Timer<Slot>[] = [];

  /** The earliest valid timer. */
  peek(): Timer<Slot> | undefined {
    for (let timer = this.#heap[0]; timer !== undefined; timer = this.#heap[0]) {
      if (timer.slot.timer === timer) return timer;
      this.#pop();
    }
    return undefined;
  }

  /** Makes it the only timer of its slot. */
  set(slot: Slot, atMs: number): void {
    const timer = { atMs, slot };
    slot.timer = timer;
    this.#add(timer);
  }

  /** Discards void timers when most are, so that a long loop doesn't retain the slots of every iteration. */
  tidy(nodesAtWork: number): void {
    if (this.#heap.length < FEW || this.#heap.length < 4 * nodesAtWork) return;
    const kept = this.#heap.filter((timer) => timer.slot.timer === timer);
    this.#heap = [];
    for (const timer of kept) this.#add(timer);
  }

  #add(timer: Timer<Slot>): void {
    const heap = this.#heap;
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((heap[parent] as Timer<Slot>).atMs <= timer.atMs) break;
      heap[at] = heap[parent] as Timer<Slot>;
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
      if (right < heap.length && (heap[right] as Timer<Slot>).atMs < (heap[child] as Timer<Slot>).atMs)
        child = right;
      if ((heap[child] as Timer<Slot>).atMs >= moved.atMs) break;
      heap[at] = heap[child] as Timer<Slot>;
      at = child;
    }
    heap[at] = moved;
  }
}
