import type { JsonObject } from '@millrace/engine';
import { expect, test } from 'vitest';
import { credentialStart } from './credential-start.ts';

const SHOP = {
  'x-new-credential': {
    name: 'Shop',
    hosts: ['*.shop.example.com'],
    host: '{{shop}}.shop.example.com',
    fields: { header: { name: 'X-Token' } },
  },
};

test.each<[string, JsonObject, readonly string[]]>([
  ['nothing', {}, ['*.shop.example.com']],
  ['a name', { shop: 'Acme' }, ['acme.shop.example.com']],
  ['a template', { shop: '{{vars.shop}}' }, ['*.shop.example.com']],
  ['what is no part of a host', { shop: 'evil.example.org/' }, ['*.shop.example.com']],
])('begins with the host of the service, as far as settings name it: %s', (_what, config, hosts) => {
  expect(credentialStart(SHOP, config, '/credential_id')).toEqual({
    name: 'Shop',
    hosts,
    fields: { header: { name: 'X-Token' } },
  });
});

test.each<[string, JsonObject, JsonObject]>([
  ['filled in', { shop: ' Acme ' }, { scope: 'read', token_url: 'https://acme.shop.example.com/token' }],
  ['empty', { shop: '' }, { scope: 'read' }],
  ['no part of a host', { shop: 'evil.example.org/' }, { scope: 'read' }],
  ['a template', { shop: '{{vars.shop}}' }, { scope: 'read' }],
])('has addresses with a setting in them only where it is filled in: %s', (_what, config, oauth2) => {
  const fields = { oauth2: { scope: 'read', token_url: 'https://{{shop}}.shop.example.com/token' } };
  const schema = { 'x-new-credential': { name: 'Shop', hosts: [], fields } };
  expect(credentialStart(schema, config, '/credential_id')?.fields).toEqual({ oauth2 });
});

test('never begins with any host', () => {
  const anywhere = { 'x-new-credential': { name: 'Shop', hosts: ['*'], host: '{{shop}}', fields: {} } };
  const hostsWith = (shop: string) => credentialStart(anywhere, { shop }, '/credential_id')?.hosts;
  expect([hostsWith(''), hostsWith('shop.example.com')]).toEqual([[], ['shop.example.com']]);
});

test.each<[unknown, readonly string[] | undefined]>([
  ['https://api.example.com:8443/orders?x={{trigger.data.x}}', ['api.example.com']],
  ['https://API.example.com', ['api.example.com']],
  ['http://user:secret@api.example.com/', ['api.example.com']],
  ['http://[fd00::5]:8080/', ['[fd00::5]']],
  ['https://{{vars.host}}/orders', undefined],
  ['https://api.{{vars.zone}}.example.com', undefined],
  ['{{vars.url}}', undefined],
  ['ftp://example.com', undefined],
  [{ type: 'x' }, undefined],
])('begins with the host of the nearest URL: %j', (url, hosts) => {
  const config = { tools: [{ type: 'http.request', config: { url, auth: {} } }], url: [] } as JsonObject;
  const pointer = '/tools/0/config/auth/credential_id';
  expect(credentialStart({}, config, pointer)?.hosts).toEqual(hosts);
});
