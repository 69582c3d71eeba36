import type { Credential, CredentialTypeItem, OauthPreset } from '@millrace/admin-api';
import { expect, test } from 'vitest';
import { changedParts, changesMore, startingFields } from './credential-values.ts';

const typeOf = (type: string, properties: object): CredentialTypeItem => ({
  type,
  title: type,
  description: '',
  is_bound: true,
  guides: [],
  schema: { type: 'object', properties } as CredentialTypeItem['schema'],
});
const BEFORE = {
  name: 'Mill',
  hosts: ['mill.example'],
  settings: { user: 'ada', port: 25, security: null },
} as unknown as Credential;
const SAME = { name: 'Mill', hosts: ['mill.example'], fields: { user: 'ada', port: 25 } };

test('only what was changed is sent, and null for a setting that was cleared', () => {
  expect(changedParts(BEFORE, SAME)).toEqual({ fields: {} });
  expect(changedParts(BEFORE, { ...SAME, name: 'Sieve', fields: { user: 'bea' } })).toEqual({
    name: 'Sieve',
    fields: { user: 'bea', port: null },
  });
});

test('a new name alone is no reason to test a credential again', () => {
  const changesWith = (change: object) => changesMore(BEFORE, { type: 'smtp', ...SAME, ...change });
  expect(changesWith({ name: 'Sieve' })).toBe(false);
  expect(changesWith({ hosts: [] })).toBe(true);
  expect(changesWith({ fields: { user: 'ada', port: 26 } })).toBe(true);
});

test('a new credential begins with its defaults, and with what its service needs', () => {
  const smtp = typeOf('smtp', { port: { type: 'integer', default: 587 }, password: { 'x-secret': true } });
  expect(startingFields(smtp, undefined, [])).toEqual({ port: 587 });
  const oauth = typeOf('oauth2', { scope: { type: 'string', default: 'all' }, grant: { enum: ['code'] } });
  const preset = { id: 'acme', fields: { scope: null, token_url: 'https://acme.example/t' }, hosts: [] };
  const start = { hosts: [], fields: { oauth2: { service: 'acme', tenant: 'mill' } } };
  expect(startingFields(oauth, start, [preset as unknown as OauthPreset])).toEqual({
    grant: 'code',
    service: 'acme',
    token_url: 'https://acme.example/t',
    tenant: 'mill',
  });
});
