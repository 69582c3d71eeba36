import type { Credential, Template } from '@millrace/admin-api';
import type { JsonObject, JsonValue } from '@millrace/engine';

type Step = Template['setup'][number];

/** For each credential that a template needs: the organisation's, if it has only one that fits. */
export function onlyCredentials({ setup }: Template, credentials: readonly Credential[]): JsonObject {
  const found = setup.flatMap((step): [string, number][] => {
    const types = step.credential_types;
    if (types === null) return [];
    const fitting = credentials.filter(({ type }) => types.includes(type));
    const [only] = fitting;
    return only !== undefined && fitting.length === 1 ? [[step.var, only.id]] : [];
  });
  return Object.fromEntries(found);
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
