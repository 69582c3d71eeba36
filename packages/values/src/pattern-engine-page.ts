import type { PatternEngine } from './pattern-engine.ts';

/**
 * Stands in for `pattern-engine.ts` in the admin area: what runs patterns is as large as the canvas, and hardly any template of a shown page has
 * a pattern.
 */

/** A pattern was used before what runs it has been loaded. */
export class PatternEngineMissingError extends Error {}

let loaded: PatternEngine | undefined;

/** @throws PatternEngineMissingError */
export function patternEngine(): PatternEngine {
  if (loaded === undefined) throw new PatternEngineMissingError('what runs patterns is not loaded yet');
  return loaded;
}

/** Afterwards patterns can be used. */
export async function loadPatternEngine(): Promise<void> {
  loaded ??= await import('re2js');
}

/** Does something that may need patterns; if it does, loads what runs them and does it again from the start. */
export async function withPatterns<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PatternEngineMissingError)) throw error;
    await loadPatternEngine();
    return await work();
  }
}
