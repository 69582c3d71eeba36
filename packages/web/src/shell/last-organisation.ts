import type { Me } from '@millrace/admin-api';

const STORED_UNDER = 'millrace.organisation';

/** Stores the current organisation in this browser. */
export function rememberOrganisation(id: number): void {
  localStorage.setItem(STORED_UNDER, String(id));
}

/** The organisation to open: the last one if you still belong to it, else the first; undefined if there is none. */
export function chooseOrganisation(organisations: Me['organisations']): number | undefined {
  const last = Number(localStorage.getItem(STORED_UNDER));
  return (organisations.find(({ id }) => id === last) ?? organisations[0])?.id;
}
