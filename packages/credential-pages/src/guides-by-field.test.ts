import type { CredentialGuide } from '@millrace/admin-api';
import { services } from '@millrace/connectors/services';
import { CREDENTIAL_GUIDES, guidesOf } from '@millrace/credentials/guides';
import { OAUTH_PRESETS } from '@millrace/credentials/oauth/presets';
import { credentialSchemas } from '@millrace/credentials/schema';
import { HTTP_SERVICES } from '@millrace/editor-model/http-presets.ts';
import { CREDENTIAL_TYPES, type CredentialType, type JsonObject } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { guidesByField } from './guides-by-field.ts';

type Properties = { readonly [name: string]: JsonObject & { readonly description: string } };

function guidesFor(type: CredentialType): readonly CredentialGuide[] {
  return guidesOf(type).map(({ when = {}, hosts = [], fields, service = null, page = null, text }) => ({
    when: Object.fromEntries(Object.entries(when).map(([name, values]) => [name, [...values]])),
    ...{ hosts: [...hosts], fields: [...fields], service, page, text },
  }));
}

/** Every choice that decides which fields a type has or whose service it is, with the fields then shown. */
function casesOf(
  type: CredentialType,
): readonly { readonly name: string; readonly fields: JsonObject; readonly shown: string[] }[] {
  const properties = credentialSchemas[type].properties as unknown as Properties;
  const deciding = ['service', 'provider', 'dialect'].find((name) => properties[name]?.enum !== undefined);
  const values = deciding === undefined ? [null] : (properties[deciding]?.enum as readonly string[]);
  return values.map((value) => {
    const fields = deciding === undefined || value === null ? {} : { [deciding]: value };
    const shown = Object.entries(properties).filter(([, { 'x-when': when = {} }]) =>
      Object.entries(when as { [name: string]: readonly string[] }).every(
        ([name, allowed]) => name !== deciding || allowed.includes(value ?? ''),
      ),
    );
    return { name: `${type} ${value ?? ''}`, fields, shown: shown.map(([name]) => name) };
  });
}

/** Cases of all types: `chat slack`. */
const CASES = CREDENTIAL_TYPES.flatMap((type) => casesOf(type).map((each) => ({ ...each, type })));

/** Types whose secret the service of a connector issues as it is. */
const KEYS: readonly CredentialType[] = ['bearer', 'basic', 'header', 'query'];
const KEYS_OF_CONNECTORS = services.flatMap(({ title, hosts, authentication: { types } }) =>
  types.filter((type) => KEYS.includes(type)).map((type) => ({ title, type, hosts })),
);

/** Connectors that say themselves where accounts are connected. */
const WITHOUT_PRESET = services.filter(
  ({ authentication: { new_credential: { oauth2 } = {} } }) =>
    oauth2 !== undefined && oauth2.service === undefined,
);

describe('what a credential for a connector begins with', () => {
  const started = services.map(({ title, authentication }) => ({ title, ...authentication }));

  test.each(started)('is part of its form, and names all that is always the same: $title', (each) => {
    const { types, new_credential: fields = {} } = each;
    for (const [type, given] of Object.entries(fields)) {
      const { properties } = credentialSchemas[type as CredentialType] as unknown as {
        properties: Properties;
      };
      for (const name of Object.keys(given)) expect(properties[name]?.['x-secret'], name).toBeUndefined();
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(given)));
    }
    const { oauth2: { service } = {} } = fields;
    if (service !== undefined) expect(OAUTH_PRESETS.map(({ id }) => id)).toContain(service);
    expect(Object.keys(fields)).toEqual(
      expect.arrayContaining(types.filter((type) => type === 'header' || type === 'query')),
    );
  });
});

describe('the catalogue of guides', () => {
  test.each(CASES)('says for $type $fields where each secret is found', ({ type, fields, shown }) => {
    const placed = guidesByField(guidesFor(type), { fields, hosts: [], shown });
    const explained = [...placed.values()].flat().flatMap((guide) => guide.fields);
    const properties = credentialSchemas[type].properties as unknown as Properties;
    const secrets = shown.filter((name) => properties[name]?.['x-secret'] === true);
    // What only some have comes from the same place.
    const others = new Map([
      ['passphrase', 'private_key'],
      ['session_token', 'access_key_id'],
    ]);
    const missing = secrets.filter(
      (name) => !explained.includes(name) && !explained.includes(others.get(name) ?? ''),
    );
    expect(missing).toEqual([]);
  });

  test.each([...OAUTH_PRESETS])('links to the page of $id, as its preset does', ({ id, guide }) => {
    const placed = guidesByField(guidesFor('oauth2'), {
      ...{ fields: { service: id }, hosts: [], shown: ['client_id'] },
    });
    expect(placed.get('client_id')?.map(({ page }) => page)).toEqual([guide]);
  });

  test.each([...HTTP_SERVICES])('knows where the key for $name is issued', ({ name, url }) => {
    const placed = guidesByField(guidesFor('bearer'), {
      ...{ fields: {}, hosts: [`${new URL(url).host}:443`], shown: ['token'] },
    });
    expect(placed.get('token')?.map(({ service }) => service)).toEqual([name]);
  });

  test.each(KEYS_OF_CONNECTORS)(
    'says where the key for $title is found ($type)',
    ({ type, hosts, title }) => {
      const shown = Object.keys(credentialSchemas[type].properties);
      const placed = guidesByField(guidesFor(type), { fields: {}, hosts, shown, service: title });
      const found = [...placed.values()].flat();
      expect(found.map(({ page }) => page ?? 'only the general text')).toEqual([
        expect.stringContaining('https://'),
      ]);
    },
  );

  test.each(WITHOUT_PRESET)('says where an app is registered for $title', ({ title, hosts }) => {
    const placed = guidesByField(guidesFor('oauth2'), {
      ...{ fields: { service: 'custom' }, hosts, shown: ['client_id', 'client_secret'] },
    });
    expect([...placed.values()].flat().map(({ service }) => service)).toEqual([title]);
  });

  test('names every sender whose signatures a webhook verifies', () => {
    const services = guidesFor('secret').map(({ service }) => service);
    expect(services).toEqual(['GitHub', 'Stripe', 'Shopify', 'Slack', 'Svix']);
  });

  test('is about fields that exist, and links to services over https', () => {
    for (const { types, fields, service, page, text } of CREDENTIAL_GUIDES) {
      const names = types.flatMap((type) => Object.keys(credentialSchemas[type].properties));
      expect(names, text).toEqual(expect.arrayContaining([...fields]));
      expect((page ?? 'https://').startsWith('https://'), text).toBe(true);
      expect(service === undefined, text).toBe(page === undefined);
    }
  });
});

test('a known host replaces the general guide, and comes with its first shown field', () => {
  const guides = guidesFor('smtp');
  const at = (host: string) =>
    guidesByField(guides, { fields: { host }, hosts: [], shown: ['host', 'password'] });
  expect([...at('mail.example.com').keys()]).toEqual(['host']);
  expect(at('email-smtp.eu-west-1.amazonaws.com').get('password')).toMatchObject([{ service: 'Amazon SES' }]);
});

test('credential types and their fields are explained without names from schemas', () => {
  const texts = CREDENTIAL_TYPES.flatMap((type) => {
    const { description, properties } = credentialSchemas[type] as unknown as {
      description: string;
      properties: Properties;
    };
    return [description, ...Object.values(properties).map((property) => property.description)];
  });
  expect(texts.filter((text) => /\bnull\b|\bproperties\b|_type\b(?!=)/.test(text))).toEqual([]);
});
