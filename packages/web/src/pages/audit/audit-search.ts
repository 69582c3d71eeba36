import type { AuditActorKind } from '@millrace/admin-api';

/** In the order in which they are offered. */
export const ACTORS = [
  'user',
  'member',
  'api_key',
  'operator',
  'service',
] as const satisfies readonly AuditActorKind[];

/** Filters of the log, as they stand in the address; times as the reader enters them, in their own zone. */
export interface AuditSearch {
  readonly action?: string;
  readonly actor?: AuditActorKind;
  readonly who?: string;
  readonly about?: string;
  readonly ip?: string;
  /** `2026-11-20T09:30` */
  readonly from?: string;
  readonly to?: string;
}

/** What is no filter in an address is left out. */
export function readAuditSearch(given: { readonly [name: string]: unknown }): AuditSearch {
  const actor = ACTORS.find((each) => each === given.actor);
  return {
    ...textMember('action', given.action),
    ...(actor === undefined ? {} : { actor }),
    ...textMember('who', given.who),
    ...textMember('about', given.about),
    ...textMember('ip', given.ip),
    ...timeMember('from', given.from),
    ...timeMember('to', given.to),
  };
}

/** The filters as the service takes them. */
export function toQuery({ from, to, ...rest }: AuditSearch) {
  return {
    ...rest,
    ...(from === undefined ? {} : { from: new Date(from).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
  };
}

// An address is text: a number in it is what somebody searches for, not a number.
function textMember<Name extends string>(name: Name, value: unknown): { readonly [N in Name]?: string } {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? ({ [name]: text } as { [N in Name]?: string }) : {};
}

function timeMember<Name extends string>(name: Name, value: unknown): { readonly [N in Name]?: string } {
  const isTime = typeof value === 'string' && !Number.isNaN(Date.parse(value));
  return isTime ? ({ [name]: value } as { [N in Name]?: string }) : {};
}
