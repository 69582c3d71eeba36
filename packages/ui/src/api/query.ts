import type { EndpointName } from '@millrace/admin-api';
import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { type AnyOptions, ApiProblem, type CallArguments, send } from './client.ts';
import { shareExactly } from './share-exactly.ts';

/** Called when the session has ended. */
type OnSignedOut = () => void;

const RETRIES = 2;

/** The client for all server state. Calls `onSignedOut` whenever a response shows that the session has ended. */
export function createQueryClient(onSignedOut: OnSignedOut): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof ApiProblem && error.code === 'signed_out') onSignedOut();
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError(error, { queryKey }) {
        onError(error);
        if (isOfOrganisation(error, queryKey)) checkMemberships(client);
        // Reads return this only for cookies that this service never issued.
        if (error instanceof ApiProblem && error.code === 'too_many_failed_authentications') onSignedOut();
      },
    }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        structuralSharing: shareExactly,
        staleTime: 5_000,
        // Errors returned by the service are final; an unreachable one (network error, 502 and above) may recover.
        retry: (count, error) => count < RETRIES && (!(error instanceof ApiProblem) || error.status >= 502),
      },
    },
  });
  return client;
}

/** Whether something in an organisation is missing, perhaps because the user no longer belongs to it. */
function isOfOrganisation(error: Error, [name]: readonly unknown[]): boolean {
  return (
    error instanceof ApiProblem &&
    error.status === 404 &&
    typeof name === 'string' &&
    name.includes(' /orgs/:org')
  );
}

/** Memberships fetched this recently aren't fetched again: pages send several requests at once. */
const KNOWN_FOR_MS = 2_000;

/** Refetches the user and their memberships; the page frame acts on the result. */
function checkMemberships(client: QueryClient): void {
  const queryKey = endpointKey('GET /me');
  const readAt = client.getQueryState(queryKey)?.dataUpdatedAt ?? 0;
  if (Date.now() - readAt > KNOWN_FOR_MS) void client.invalidateQueries({ queryKey });
}

/**
 * Reports a failed call that is neither a query nor a mutation: if the session has ended, refetching the user leads to
 * the sign-in page and back.
 */
export function noteFailure(queryClient: QueryClient, error: unknown): void {
  if (!(error instanceof ApiProblem) || error.code !== 'signed_out') return;
  void queryClient.invalidateQueries({ queryKey: endpointKey('GET /me') });
}

/** The query key of an endpoint: `[name, params, query]`, so that a prefix matches all its queries. */
export function endpointKey<Name extends EndpointName>(
  name: Name,
  ...[options]: CallArguments<Name>
): readonly unknown[] {
  return keyOf(name, options as AnyOptions | undefined);
}

/** {@link endpointKey} for an endpoint known only at run time. */
export function keyOf(name: EndpointName, { params, query }: AnyOptions = {}): readonly unknown[] {
  return query === undefined ? (params === undefined ? [name] : [name, params]) : [name, params, query];
}

/** Query options for a GET endpoint, for useQuery, useSuspenseQuery and prefetching. */
export function endpointQuery<Name extends EndpointName & `GET ${string}`>(
  name: Name,
  ...[options]: CallArguments<Name>
) {
  const given = options as AnyOptions | undefined;
  return queryOptions({
    queryKey: keyOf(name, given),
    queryFn: ({ signal }) => send(name, { ...given, signal }),
  });
}
