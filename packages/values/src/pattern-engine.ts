import { RE2JS, RE2JSSyntaxException } from 're2js';

/** What runs patterns. In the admin area `pattern-engine-page.ts` stands in for this module, which loads it when it is needed. */
export interface PatternEngine {
  readonly RE2JS: typeof RE2JS;
  readonly RE2JSSyntaxException: typeof RE2JSSyntaxException;
}

const ENGINE: PatternEngine = { RE2JS, RE2JSSyntaxException };

export const patternEngine = (): PatternEngine => ENGINE;
