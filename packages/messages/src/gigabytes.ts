/** A limit in bytes as texts name it: in gigabytes of 10^9 bytes, to the megabyte. */
export function inGigabytes(bytes: number): number {
  return Math.round((bytes / 1e9) * 1_000) / 1_000;
}
