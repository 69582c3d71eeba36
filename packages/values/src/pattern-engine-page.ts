import { NotLoadedError } from './not-loaded.ts';
import type { PatternEngine } from './pattern-engine.ts';

/** Stands in for `pattern-engine.ts` in the admin area: as large as the canvas, and hardly any template of a shown page has a pattern. */

let loaded: PatternEngine | undefined;

/** @throws NotLoadedError */
export function patternEngine(): PatternEngine {
  if (loaded === undefined) throw new NotLoadedError('patterns', loadPatternEngine);
  return loaded;
}

/** Afterwards patterns can be used. */
export async function loadPatternEngine(): Promise<void> {
  loaded ??= await import('re2js');
}
