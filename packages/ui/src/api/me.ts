import { isAtLeast, type Me, type Role } from '@millrace/admin-api';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { endpointQuery } from './query.ts';

/** Who is signed in; undefined while it is not known. */
export function useMe(): Me | undefined {
  return useQuery({ ...endpointQuery('GET /me'), staleTime: 60_000 }).data;
}

/** Id of the organisation in the address; null outside of one. */
export function useOrg(): number {
  const { org } = useParams({ strict: false });
  return Number(org);
}

/** Id of the workflow in the address; null where it names none. */
export function useWorkflowId(): number | null {
  const { id } = useParams({ strict: false }) as { readonly id?: string };
  return id === undefined ? null : Number(id);
}

/** What the person who is signed in is in the present organisation, and so may do there. */
export function useRole(): { readonly role: Role; readonly can: (wanted: Role) => boolean } {
  const org = useOrg();
  const me = useMe();
  const role = me?.organisations.find((each) => each.id === org)?.role ?? 'viewer';
  return { role, can: (wanted) => isAtLeast(role, wanted) };
}
