import { type ConfigFault, joinPointer } from '@millrace/engine';
import { message } from '@millrace/messages';
import { Type } from 'typebox';

const MAX_ORIGINS = 20;

/** The setting of a hosted page that lists the websites which may show it in a frame. */
export function originsSchema(description: string) {
  return Type.Array(
    Type.String({ title: 'Website', minLength: 1, maxLength: 200, default: 'https://www.example.com' }),
    { title: 'Websites', description, maxItems: MAX_ORIGINS, default: [] },
  );
}

/** Faults of `allowed_origins`. */
export function originFaults(origins: readonly string[]): readonly ConfigFault[] {
  return origins.flatMap((origin, index) =>
    isOrigin(origin)
      ? []
      : [
          {
            pointer: joinPointer('/allowed_origins', String(index)),
            message: message('nodes.not_an_origin'),
          },
        ],
  );
}

/** Exactly an origin: what else an address has would be ignored by browsers, or end the policy that it becomes part of. */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  // URLs allow more in the name of a host than names have, such as the * of policies.
  if (url === null || url.origin !== text || !/^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/.test(url.hostname))
    return false;
  return (
    url.protocol === 'https:' || (url.protocol === 'http:' && /^(localhost|127\.0\.0\.1)$/.test(url.hostname))
  );
}
