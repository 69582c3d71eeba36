import { findJsonMistake } from '@millrace/engine';

/** A place in a text; both count from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** Where a text stops being JSON. */
export function findJsonPlace(text: string): TextPlace {
  const before = text.slice(0, findJsonMistake(text)).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
