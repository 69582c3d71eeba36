import type { CredentialType, JsonObject } from '@millrace/engine';
import presets from './presets.json' with { type: 'json' };

/** What is known about a service from its public reference. None was tried against the service itself. */
export interface OauthPreset {
  readonly id: string;
  readonly title: string;
  /** May have a part in angle brackets that only its user knows; no address is valid with it. */
  readonly authorization_url: string;
  readonly token_url: string;
  readonly scope: string | null;
  readonly client_authentication: string;
  readonly authorization_parameters: string | null;
  /** The header that carries the token by itself; null: `Authorization: Bearer`. */
  readonly token_header: string | null;
  readonly hosts: readonly string[];
  /** The service's own guide on how to register an app. */
  readonly guide: string;
  /** Where an app is registered, and where it shows its ID and secret. */
  readonly where: string;
}

export const OAUTH_PRESETS: readonly OauthPreset[] = presets.map((preset) => ({
  ...{ token_header: null },
  ...preset,
}));

/** A service without a preset. */
export const CUSTOM_SERVICE = 'custom';

/** The preset that a credential's fields name; undefined for other types and services. */
export function presetOf(type: CredentialType, { service }: JsonObject): OauthPreset | undefined {
  return type === 'oauth2' ? OAUTH_PRESETS.find(({ id }) => id === service) : undefined;
}

/** The fields, with what the preset says about those that are missing. */
export function withPreset(type: CredentialType, fields: JsonObject): JsonObject {
  const preset = presetOf(type, fields);
  if (preset === undefined) return fields;
  const { id: _id, title: _title, hosts: _hosts, guide: _guide, where: _where, ...known } = preset;
  return { ...known, ...fields };
}

/** Addresses that services give up, and those that took their place. */
const MOVED: { readonly [former: string]: string } = {
  // Works until 2027-02-16.
  'https://api.hubapi.com/oauth/v1/token': 'https://api.hubapi.com/oauth/2026-03/token',
};

/** Where tokens are fetched now: credentials keep the address that was known when they were saved. */
export function currentTokenUrl(url: string): string {
  return MOVED[url] ?? url;
}
