import type { AuditActorKind } from '@millrace/admin-api';
import { moment, oneOf, searchReader, text } from '@millrace/ui/api/search-params.ts';

/** In display order. */
export const ACTORS = [
  'user',
  'member',
  'api_key',
  'operator',
  'service',
] as const satisfies readonly AuditActorKind[];

/** Filters as stored in the address; times as entered, in the reader's zone. */
export const readAuditSearch = searchReader({
  action: text,
  actor: oneOf(ACTORS),
  who: text,
  about: text,
  ip: text,
  /** `2026-11-20T09:30` */
  from: moment,
  to: moment,
});
export type AuditSearch = ReturnType<typeof readAuditSearch>;

/** The filters in the service's format. */
export function toQuery({ from, to, ...rest }: AuditSearch) {
  return {
    ...rest,
    ...(from === undefined ? {} : { from: new Date(from).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
  };
}
