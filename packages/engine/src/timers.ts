/** Something that is due for one attempt of one node; void when the node has moved on since. */
export interface Timer {
  readonly atMs: number;
  readonly node: number;
  readonly attempt: number;
}

/** A binary heap, earliest first, so that thousands of parallel waits stay cheap. */
export class Timers {
  readonly #heap: Timer[] = [];

  peek(): Timer | undefined {
    return this.#heap[0];
  }

  add(timer: Timer): void {
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

  pop(): Timer | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const moved = heap.pop();
    if (top === undefined || moved === undefined || heap.length === 0) return top;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      const right = child + 1;
      if (right < heap.length && (heap[right] as Timer).atMs < (heap[child] as Timer).atMs) child = right;
      if ((heap[child] as Timer).atMs >= moved.atMs) break;
      heap[at] = heap[child] as Timer;
      at = child;
    }
    heap[at] = moved;
    return top;
  }
}
