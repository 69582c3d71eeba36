/** The next round number (1, 2 or 5 times a power of ten) that isn't below a value, at least 1. */
export function roundUp(value: number): number {
  if (value <= 1) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((factor) => factor * unit >= value) ?? 10) * unit;
}

/** Places of at most `most` labels among `count` bars, evenly apart, the last one included. */
export function labelledPlaces(count: number, most: number): readonly number[] {
  const distance = Math.max(1, Math.ceil(count / Math.max(1, most)));
  return Array.from({ length: count }, (_, place) => place).filter(
    (place) => (count - 1 - place) % distance === 0,
  );
}
