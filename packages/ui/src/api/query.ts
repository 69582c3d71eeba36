import type { EndpointName } from '@millrace/admin-api';
import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { type AnyOptions, ApiProblem, type CallArguments, send } from './client.ts';
import { shareExactly } from './share-exactly.ts';

/** Whoever is told that the session has ended. */
type OnSignedOut = () => void;

const RETRIES = 2;

/** The client of all server state. A session that has ended is told to `onSignedOut` from wherever it shows. */
export function createQueryClient(onSignedOut: OnSignedOut): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof ApiProblem && error.code === 'signed_out') onSignedOut();
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError(error, { queryKey }) {
        onError(error);
        if (isOfOrganisation(error, queryKey)) checkMemberships(client);
        // Reads answer so for cookies that this service never gave out, and for nothing else.
        if (error instanceof ApiProblem && error.code === 'too_many_failed_authentications') onSignedOut();
      },
    }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        structuralSharing: shareExactly,
        staleTime: 5_000,
        // What was refused stays refused; what could not be reached may come back.
        retry: (count, error) => count < RETRIES && (!(error instanceof ApiProblem) || error.status >= 502),
      },
    },
  });
  return client;
}

/** Whether something in an organisation is not there: perhaps because one does not belong to it any more. */
function isOfOrganisation(error: Error, [name]: readonly unknown[]): boolean {
  return (
    error instanceof ApiProblem &&
    error.status === 404 &&
    typeof name === 'string' &&
    name.includes(' /orgs/:org')
  );
}

/** What was read of one's organisations a moment ago is taken as it is: pages ask for several things at once. */
const KNOWN_FOR_MS = 2_000;

/** Reads anew who is signed in, and where they belong; the frame of the pages acts on it. */
function checkMemberships(client: QueryClient): void {
  const queryKey = endpointKey('GET /me');
  const readAt = client.getQueryState(queryKey)?.dataUpdatedAt ?? 0;
  if (Date.now() - readAt > KNOWN_FOR_MS) void client.invalidateQueries({ queryKey });
}

/**
 * To be told of the failure of a call that is neither a query nor a mutation: when the session has ended, asking who is
 * signed in leads to the sign-in page and back.
 */
export function noteFailure(queryClient: QueryClient, error: unknown): void {
  if (!(error instanceof ApiProblem) || error.code !== 'signed_out') return;
  void queryClient.invalidateQueries({ queryKey: endpointKey('GET /me') });
}

/** The key of an endpoint's answer: `[name, params, query]`, so that a prefix matches all answers of an endpoint. */
export function endpointKey<Name extends EndpointName>(
  name: Name,
  ...[options]: CallArguments<Name>
): readonly unknown[] {
  return keyOf(name, options as AnyOptions | undefined);
}

/** {@link endpointKey} of an endpoint that is not known yet. */
export function keyOf(name: EndpointName, { params, query }: AnyOptions = {}): readonly unknown[] {
  return query === undefined ? (params === undefined ? [name] : [name, params]) : [name, params, query];
}

/** Query options of a GET endpoint, for useQuery, useSuspenseQuery and prefetching. */
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
