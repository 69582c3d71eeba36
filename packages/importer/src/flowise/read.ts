import type { JsonValue } from '@millrace/engine';
export function isFlowise(_value: JsonValue): boolean {
  return false;
}
export function flowiseNodes(_value: JsonValue): number {
  return 0;
}
