/** What the address of the members says: which of the lists is shown. */
export function readMembersSearch({ tab }: { readonly tab?: unknown }): { readonly tab?: 'invitations' } {
  return tab === 'invitations' ? { tab } : {};
}

/** What the address of the accounts says: what is searched for. */
export function readAccountsSearch({ search }: { readonly search?: unknown }): { readonly search?: string } {
  return typeof search === 'string' && search !== '' ? { search } : {};
}
