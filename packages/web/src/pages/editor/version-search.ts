/** What stands in the address of the editor: the version to be looked at; none: what is worked on. */
export interface VersionSearch {
  readonly version?: number;
}

/** Reads it; whatever else stands there counts as none. */
export function readVersionSearch({ version }: { readonly [name: string]: unknown }): VersionSearch {
  const number = Number(version);
  return Number.isSafeInteger(number) && number > 0 ? { version: number } : {};
}
