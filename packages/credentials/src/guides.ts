import type { CredentialType } from '@millrace/engine';
import guides from './guides.json' with { type: 'json' };
import { OAUTH_PRESETS } from './oauth/presets.ts';

/** Where the values of a credential's fields are found at the other side. */
export interface CredentialGuide {
  readonly types: readonly CredentialType[];
  /** The values of other fields with which it applies; absent: all. */
  readonly when?: { readonly [field: string]: readonly string[] };
  /** Hosts of the service, for types whose fields don't name it; `.example.com` matches every subdomain. */
  readonly hosts?: readonly string[];
  /** The fields it is about; the form shows it with the first that it has. */
  readonly fields: readonly string[];
  /** Absent with `page`: it applies to any service. */
  readonly service?: string;
  /** The service's page that issues or explains the values. */
  readonly page?: string;
  readonly text: string;
}

/** Taken from the services' public references. None was tried against the service itself. */
export const CREDENTIAL_GUIDES: readonly CredentialGuide[] = [
  ...(guides as readonly CredentialGuide[]),
  ...OAUTH_PRESETS.map(
    ({ id, title, guide, where }): CredentialGuide => ({
      types: ['oauth2'],
      when: { service: [id] },
      fields: ['client_id', 'client_secret'],
      service: title,
      page: guide,
      text: where,
    }),
  ),
];

/** The guides for credentials of a type. */
export function guidesOf(type: CredentialType): readonly CredentialGuide[] {
  return CREDENTIAL_GUIDES.filter(({ types }) => types.includes(type));
}
