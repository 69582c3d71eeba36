/** Lets one loop sleep until it is woken or times out. A wake-up while it is busy is remembered. */
export class Wakeup {
  #isDue = false;
  #resolve: (() => void) | null = null;

  wake(): void {
    this.#isDue = true;
    this.#resolve?.();
  }

  async wait(timeoutMs: number): Promise<void> {
    if (!this.#isDue) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#resolve = null;
    }
    this.#isDue = false;
  }
}
