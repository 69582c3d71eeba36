/** Sends the parent process this server's address. */
export function announce(url: string): void {
  process.send?.({ url });
}
