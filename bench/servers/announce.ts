/** Tells the parent process where this server listens. */
export function announce(url: string): void {
  process.send?.({ url });
}
