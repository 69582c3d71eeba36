import { isAtLeast, type Me, type Role } from '@millrace/admin-api';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { createContext, useContext } from 'react';
import { endpointQuery } from './query.ts';

/** The signed-in user; undefined while loading. */
export function useMe(): Me | undefined {
  return useQuery({ ...endpointQuery('GET /me'), staleTime: 60_000 }).data;
}

/** The organisation of parts that are shown outside of one, such as the command palette on the account page. */
export const OrgContext = createContext<number | null>(null);

/** Organisation id from the address, or from the context outside an organisation. */
export function useOrg(): number {
  const { org } = useParams({ strict: false });
  return useContext(OrgContext) ?? Number(org);
}

/** Workflow id from the address; null if there is none. */
export function useWorkflowId(): number | null {
  const { id } = useParams({ strict: false }) as { readonly id?: string };
  return id === undefined ? null : Number(id);
}

/** The user's role in the current organisation, and a check of what it permits. */
export function useRole(): { readonly role: Role; readonly can: (wanted: Role) => boolean } {
  const org = useOrg();
  const me = useMe();
  const role = me?.organisations.find((each) => each.id === org)?.role ?? 'viewer';
  return { role, can: (wanted) => isAtLeast(role, wanted) };
}
