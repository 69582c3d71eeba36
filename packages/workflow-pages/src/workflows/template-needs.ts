import type { Credential, Template } from '@millrace/admin-api';
import type { JsonObject, JsonValue } from '@millrace/engine';

type Step = Template['setup'][number];

/** For each credential that a template needs: the organisation's, if it has only one that fits. */
export function onlyCredentials({ setup }: Template, credentials: readonly Credential[]): JsonObject {
  const found = setup.flatMap((step): [string, number][] => {
    const types = step.credential_types;
    if (types === null) return [];
    const fitting = credentials.filter(
      (credential) => types.includes(credential.type) && mayReach(credential, step.credential_hosts),
    );
    const [only] = fitting;
    return only !== undefined && fitting.length === 1 ? [[step.var, only.id]] : [];
  });
  return Object.fromEntries(found);
}

/** Whether a credential may be sent to each of the services. Types that aren't sent to hosts of their owner's choice have none. */
function mayReach({ hosts }: Credential, services: Step['credential_hosts']): boolean {
  return (
    hosts.length === 0 ||
    services.every((service) => service.some((one) => hosts.some((other) => areOf(one, other))))
  );
}

/** Whether there is a host that both name. */
function areOf(one: string, other: string): boolean {
  return isNamed(one, other) || isNamed(other, one);
}

function isNamed(host: string, entry: string): boolean {
  if (entry === '*' || host === entry) return true;
  return entry.startsWith('*.') && host.endsWith(entry.slice(1));
}

/** What is still to be filled in. A text that is empty by default may stay so. */
export function openSteps(
  steps: readonly Step[],
  vars: { readonly [name: string]: JsonValue },
): readonly Step[] {
  return steps.filter(
    (step) =>
      vars[step.var] === undefined ||
      (step.value !== '' && step.credential_types === null && vars[step.var] === ''),
  );
}
