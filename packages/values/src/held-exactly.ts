import { decimalText, parseDecimal } from './decimal.ts';

/** A number with so few digits, neither very large nor very small, has a double of its own. */
const SURE_LENGTH = 15;
const SURE_MAGNITUDE = 1e290;

/** Whether the double that a number's text is parsed to has exactly its digits. */
export function isHeldExactly(source: string, value: number): boolean {
  const magnitude = Math.abs(value);
  if (source.length <= SURE_LENGTH && magnitude < SURE_MAGNITUDE && magnitude > 1 / SURE_MAGNITUDE)
    return true;
  // Nearly all numbers are written the way JavaScript writes them; comparing digits takes ten times as long.
  if (String(value) === source) return true;
  return Number.isFinite(value) && normalDecimal(source) === normalDecimal(String(value));
}

/** The same text for all ways to write a number. */
export function normalDecimal(source: string): string {
  const decimal = parseDecimal(source);
  return decimal === null ? source : decimalText(decimal);
}
