import type { Flow } from '@millrace/engine';
import { isSame } from './local-copy.ts';

/** While the service cannot be reached, every change is sent; those in the middle are the least likely to have arrived. */
const MAX_FLOWS = 40;

/** What was sent and never answered: the service may have any of it, under a revision that nobody here was told. */
export class Unanswered {
  readonly #flows: Flow[] = [];

  get first(): Flow | null {
    return this.#flows[0] ?? null;
  }

  add(flow: Flow): void {
    if (this.#flows.length >= MAX_FLOWS) this.#flows.splice(MAX_FLOWS / 2, 1);
    this.#flows.push(flow);
  }

  has(flow: Flow): boolean {
    return this.#flows.some((each) => isSame(each, flow));
  }

  /** The service has answered: it has nothing that is not known here. */
  clear(): void {
    this.#flows.length = 0;
  }
}
