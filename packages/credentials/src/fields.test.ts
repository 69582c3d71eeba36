import { generateKeyPairSync } from 'node:crypto';
import { CREDENTIAL_TYPES, type CredentialOf, type CredentialType, type JsonObject } from '@millrace/engine';
import type { Static } from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { belongsTo, checkFields, checkHosts, joinFields, secretsText, splitFields } from './fields.ts';
import { type credentialSchemas, fieldsOf } from './schema.ts';

type Stored = { [Type in CredentialType]: Static<(typeof credentialSchemas)[Type]> };
type Wanted = {
  [Type in CredentialType]: {
    -readonly [Name in keyof Omit<CredentialOf<Type>, 'type'>]: CredentialOf<Type>[Name];
  };
};

const PRIVATE_KEY = generateKeyPairSync('ed25519')
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

/** The minimum each type accepts. */
const LEAST: Readonly<Record<CredentialType, JsonObject>> = {
  bearer: { token: 'canary' },
  basic: { username: 'canary', password: '' },
  header: { name: 'X-Key', value: 'canary' },
  query: { name: 'key', value: 'canary' },
  digest: { username: 'canary', password: '' },
  oauth2: {
    authorization_url: 'https://id.example.com/auth',
    token_url: 'https://id.example.com/token',
    client_id: 'c',
  },
  google_service_account: { client_email: 'a@b.example', private_key: PRIVATE_KEY, scope: 's' },
  aws: { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'canary' },
  jwt: { algorithm: 'HS256', key: 'canary' },
  client_certificate: { certificate: PRIVATE_KEY, private_key: PRIVATE_KEY },
  secret: { value: 'canary' },
  smtp: { host: 'smtp.example.com' },
  imap: { host: 'imap.example.com', username: 'ada', password: 'canary' },
  redis: { host: 'redis.example.com' },
  mqtt: { host: 'mqtt.example.com' },
  kafka: { brokers: 'kafka.example.com:9093', username: 'ada', password: 'canary' },
  sql: { host: 'db.example.com', database: 'd', username: 'u', password: 'canary' },
  ai: { api_key: 'canary' },
  chat: { service: 'slack', token: 'canary' },
};

describe('the schemas', () => {
  test('have the fields that nodes get', () => {
    expectTypeOf<Stored>().toEqualTypeOf<Wanted>();
  });

  test.each(CREDENTIAL_TYPES)('%s: title and description everywhere', (type) => {
    for (const [name, schema] of fieldsOf(type)) {
      expect(schema, name).toMatchObject({
        title: expect.any(String),
        description: expect.stringMatching(/\.$/),
      });
    }
  });
});

describe('fields', () => {
  test.each<[CredentialType, JsonObject, number]>([
    ['sql', {}, 5432],
    ['sql', { dialect: 'mysql' }, 3306],
    ['sql', { dialect: 'sqlserver' }, 1433],
    ['sql', { dialect: 'mysql', port: 5432 }, 5432],
    ['sql', { dialect: 'mongodb' }, 27_017],
    ['smtp', {}, 587],
    ['smtp', { security: 'tls' }, 465],
  ])('%s %j listens on %i', (type, given, port) => {
    expect(checkFields(type, { ...LEAST[type], ...given }).fields.port).toBe(port);
  });

  test.each(CREDENTIAL_TYPES)('%s: the minimum comes back complete, with defaults', (type) => {
    const { fields, errors } = checkFields(type, LEAST[type]);
    expect(errors).toEqual([]);
    const { settings, secrets } = splitFields(type, fields);
    expect(JSON.stringify(settings)).not.toContain('canary');
    expect(joinFields(type, JSON.stringify(settings), secretsText(secrets))).toEqual({ type, ...fields });
    expect(Object.keys(fields).sort()).toEqual(
      fieldsOf(type)
        .map(([name]) => name)
        .sort(),
    );
  });

  test('that a stored credential lacks have their default', () => {
    const { settings, secrets } = splitFields('oauth2', checkFields('oauth2', LEAST.oauth2).fields);
    const { token_header: _added, ...former } = settings;
    expect(joinFields('oauth2', JSON.stringify(former), secretsText(secrets))).toMatchObject({
      token_header: null,
      client_id: 'c',
    });
  });

  test.each<[CredentialType, JsonObject, string]>([
    ['bearer', {}, '/fields/token'],
    ['bearer', { token: '' }, '/fields/token'],
    ['bearer', { token: 'canary\n' }, '/fields/token'],
    ['bearer', { token: 'canary', colour: 'red' }, '/fields/colour'],
    ['basic', { username: 'a:canary', password: '' }, '/fields/username'],
    ['header', { name: 'Host', value: 'canary' }, '/fields/name'],
    ['header', { name: 'User-Agent', value: 'canary' }, '/fields/name'],
    ['header', { name: 'x y', value: 'canary' }, '/fields/name'],
    ['header', { name: 'X-Key', value: 'canary\r\nHost: x' }, '/fields/value'],
    ['oauth2', { ...LEAST.oauth2, token_header: 'x y' }, '/fields/token_header'],
    ['oauth2', { ...LEAST.oauth2, token_header: 'Host' }, '/fields/token_header'],
    ['oauth2', { ...LEAST.oauth2, token_header: `X-${'y'.repeat(99)}` }, '/fields/token_header'],
    ['secret', { value: 7 }, '/fields/value'],
    ['smtp', { host: 'https://canary' }, '/fields/host'],
    ['smtp', { host: 'a', port: 0 }, '/fields/port'],
    ['smtp', { host: 'a', security: 'canary' }, '/fields/security'],
    ['smtp', { host: 'a', username: 'u' }, '/fields/password'],
    ['smtp', { host: 'a', password: 'canary' }, '/fields/username'],
    ['sql', { ...LEAST.sql, tls: null }, '/fields/tls'],
    ['ai', { ...LEAST.ai, base_url: 'https://u:canary@a.example' }, '/fields/base_url'],
    ['chat', { service: 'slack' }, '/fields/webhook_url'],
    ['chat', { service: 'icq', token: 'canary' }, '/fields/service'],
    ['chat', { service: 'slack', webhook_url: 'canary' }, '/fields/webhook_url'],
  ])('%s %j is refused at %s, without repeating it', (type, given, pointer) => {
    const { errors } = checkFields(type, given);
    expect(errors.map((error) => error.pointer)).toContain(pointer);
    expect(JSON.stringify(errors)).not.toContain('canary');
  });
});

describe('hosts', () => {
  test('are sorted, unique, and in one notation', () => {
    expect(checkHosts('bearer', ['B.example', 'a.example', 'b.example.'])).toEqual({
      hosts: ['a.example', 'b.example'],
      errors: [],
    });
  });

  test.each<[CredentialType, string[], string]>([
    ['bearer', [], '/hosts'],
    ['basic', ['a.example', 'https://b.example'], '/hosts/1'],
    ['header', Array.from({ length: 51 }, (_, index) => `h${index}.example`), '/hosts'],
    ['secret', ['a.example'], '/hosts'],
    ['smtp', ['a.example'], '/hosts'],
    ['ai', ['*'], '/hosts'],
  ])('%s %j is refused', (type, hosts, pointer) => {
    expect(checkHosts(type, hosts).errors.map((error) => error.pointer)).toEqual([pointer]);
  });
});

test('a ciphertext is bound to everything beside it', () => {
  const record = { id: 1, organisation_id: 2, type: 'ai', hosts: ['a'], settings: '{}' };
  const others = [
    { id: 2 },
    { organisation_id: 1 },
    { type: 'chat' },
    { hosts: ['b'] },
    { settings: '{"a":1}' },
  ];
  const names = [{}, ...others].map((other) => belongsTo({ ...record, ...other }));
  expect(new Set(names).size).toBe(names.length);
});
