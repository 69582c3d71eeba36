import type { CredentialGuide } from '@millrace/admin-api';
import type { JsonObject } from '@millrace/engine';

interface Filled {
  readonly fields: JsonObject;
  /** The hosts it is bound to. */
  readonly hosts: readonly string[];
  /** Names of the fields that the form shows. */
  readonly shown: readonly string[];
  /** The service that it is made for; some are at a host of whoever runs them. */
  readonly service?: string | undefined;
}

/** The guides for what has been filled in so far, each with the first field it is about. Those of a known host replace the general ones. */
export function guidesByField(
  guides: readonly CredentialGuide[],
  { fields, hosts, shown, service }: Filled,
): ReadonlyMap<string, readonly CredentialGuide[]> {
  const known = [...hosts, fields.host].filter((host) => typeof host === 'string').map(nameOf);
  const fitting = guides.filter(
    ({ when, hosts: own, service: name }) =>
      Object.entries(when).every(([name, values]) => values.some((value) => value === fields[name])) &&
      (own.length === 0 ||
        (name !== null && name === service) ||
        own.some((host) => known.some((name) => isOf(name, host)))),
  );
  const special = fitting.filter(({ hosts: own }) => own.length > 0);
  const placed = (special.length > 0 ? special : fitting).flatMap((guide) => {
    const field = guide.fields.find((name) => shown.includes(name));
    return field === undefined ? [] : [{ field, guide }];
  });
  return new Map(
    [...Map.groupBy(placed, ({ field }) => field)].map(([field, found]) => [
      field,
      found.map(({ guide }) => guide),
    ]),
  );
}

/** A host without its port. */
function nameOf(host: string): string {
  return host.trim().toLowerCase().replace(/:\d+$/, '');
}

function isOf(name: string, host: string): boolean {
  return host.startsWith('.') ? name.endsWith(host) : name === host;
}
