/** Packages that Python code of other products often uses, and that the Code node doesn't have. */
const MISSING =
  'requests|httpx|aiohttp|numpy|pandas|pydantic|bs4|lxml|PIL|yaml|dateutil|pytz|scipy|sklearn'.split('|');
const IMPORT = new RegExp(`^\\s*(?:import|from)\\s+(${MISSING.join('|')})\\b`, 'm');

/** The first package that code imports and the Code node doesn't have; null if there is none. */
export function missingPackageIn(code: string): string | null {
  return IMPORT.exec(code)?.[1] ?? null;
}
