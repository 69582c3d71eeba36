/** How connecting a credential can end, as the service says when it sends the browser back. */
const RESULTS = ['connected', 'refused', 'rejected', 'unavailable', 'failed', 'stale'] as const;
export type ConnectionResult = (typeof RESULTS)[number];

/** The search parameters of the credentials page. */
interface ConnectionSearch {
  readonly connection?: ConnectionResult;
}

export function readConnectionSearch({ connection }: { readonly connection?: unknown }): ConnectionSearch {
  const result = RESULTS.find((each) => each === connection);
  return result === undefined ? {} : { connection: result };
}
