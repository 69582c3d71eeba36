import type { AuditActorKind } from '@millrace/admin-api';
import { moment, oneOf, searchReader, text } from '@millrace/ui/api/search-params.ts';

/** In the order in which they are offered. */
export const ACTORS = [
  'user',
  'member',
  'api_key',
  'operator',
  'service',
] as const satisfies readonly AuditActorKind[];

/** Filters of the log, as they stand in the address; times as the reader enters them, in their own zone. */
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

/** The filters as the service takes them. */
export function toQuery({ from, to, ...rest }: AuditSearch) {
  return {
    ...rest,
    ...(from === undefined ? {} : { from: new Date(from).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
  };
}
