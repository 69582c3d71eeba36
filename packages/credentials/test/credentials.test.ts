import { presentCredential } from '@millrace/api/admin/credentials/present';
import { CREDENTIAL_TYPES, type CredentialType, type JsonObject } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { createWorkflow } from '@millrace/service/workflows/save';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { keysOfVariable } from '@millrace/testing/secret-keys';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  addCredential,
  type CredentialChange,
  changeCredential,
  deleteCredential,
} from '../src/credentials.ts';
import { BOUND_TYPES } from '../src/schema.ts';
import { type CredentialRow, findCredential, listCredentials } from '../src/store.ts';
import { dumpRows, FIELDS, HOSTS, newOrganisation, OPERATOR, openAs, storeCredential } from './support.ts';

let database: TestDatabase;
let organisationId: number;
const keys = keysOfVariable();
beforeAll(async () => {
  database = await createTestDatabase();
  organisationId = await newOrganisation(database);
});
afterAll(() => database.drop());

const URL_OF_HOST = 'https://api.example.com/v1';

function open(row: CredentialRow, url?: string) {
  const use = { types: [row.type], ...(url === undefined ? {} : { url }) };
  return openAs(database, keys, row.organisation_id, row.id, use);
}

function change(row: CredentialRow, what: CredentialChange): Promise<CredentialRow> {
  return changeCredential({ db: database.db, keys }, row.organisation_id, row.id, what, OPERATOR);
}

async function errorsOf(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.then(
    () => 'nothing was thrown',
    (thrown: unknown) => thrown,
  );
  return (error as { errors?: { pointer: string; code: string }[] }).errors?.map(
    ({ pointer, code }) => `${pointer} ${code}`,
  );
}

describe('a credential', () => {
  test.each(CREDENTIAL_TYPES)('%s is what the node gets, and all its secrets are masked', async (type) => {
    const row = await storeCredential(database, keys, organisationId, type);
    const { credential, masked } = await open(row, BOUND_TYPES.includes(type) ? URL_OF_HOST : undefined);
    expect(credential as object).toMatchObject({ type, ...FIELDS[type] });
    const secrets = Object.values(FIELDS[type])
      .map(String)
      .filter((value) => value.includes('canary'));
    expect(masked).toEqual(expect.arrayContaining(secrets));
  });

  test('with user name and password is also masked as it is sent', async () => {
    const row = await storeCredential(database, keys, organisationId, 'basic');
    const pair = Buffer.from('canary-user:canary-password').toString('base64');
    expect((await open(row, URL_OF_HOST)).masked).toContain(pair);
  });

  test('has a unique name in its organisation', async () => {
    const given = { organisationId, name: ' twice ', type: 'secret', hosts: [], fields: FIELDS.secret };
    const deps = { db: database.db, keys };
    const first = await addCredential(deps, given, OPERATOR);
    expect(first.name).toBe('twice');
    expect(await errorsOf(addCredential(deps, given, OPERATOR))).toEqual(['/name name_taken']);
    const other = await storeCredential(database, keys, organisationId, 'secret');
    expect(await errorsOf(change(other, { name: 'twice' }))).toEqual(['/name name_taken']);
    expect((await change(first, { name: 'twice' })).name).toBe('twice');
    const elsewhere = await newOrganisation(database);
    await addCredential(deps, { ...given, organisationId: elsewhere }, OPERATOR);
  });

  test.each<[JsonObject, string[]]>([
    [{ name: ' ' }, ['/name invalid_length']],
    [{ name: 'a\nb' }, ['/name hidden_character']],
    [{ name: 'x'.repeat(256) }, ['/name invalid_length']],
    [{ type: 'password' }, ['/type invalid_value']],
    [{ hosts: [] }, ['/hosts invalid_value']],
    [
      { name: '', hosts: ['a/b'], fields: {} },
      ['/name invalid_length', '/hosts/0 invalid_value', '/fields/token missing_field'],
    ],
  ])('is refused with %j', async (wrong, errors) => {
    const given = {
      organisationId,
      name: 'x',
      type: 'bearer',
      hosts: HOSTS,
      fields: FIELDS.bearer,
      ...wrong,
    };
    expect(await errorsOf(addCredential({ db: database.db, keys }, given, OPERATOR))).toEqual(errors);
  });
});

describe('opening', () => {
  const refused = (code: string, retryable = false) => ({ name: 'ServiceError', code, retryable });

  test.each([0, -1, 1.5, 999_999, 2 ** 60])('%s is not found', async (id) => {
    await expect(openAs(database, keys, organisationId, id, { types: ['bearer'] })).rejects.toMatchObject(
      refused('credential_not_found'),
    );
  });

  test('finds nothing of another organisation', async () => {
    const row = await storeCredential(database, keys, organisationId, 'secret');
    const other = await newOrganisation(database);
    await expect(openAs(database, keys, other, row.id, { types: ['secret'] })).rejects.toMatchObject(
      refused('credential_not_found'),
    );
  });

  test("refuses a type the node doesn't accept", async () => {
    const row = await storeCredential(database, keys, organisationId, 'smtp');
    await expect(
      openAs(database, keys, organisationId, row.id, { types: ['sql', 'ai'] }),
    ).rejects.toMatchObject({
      ...refused('credential_wrong_type'),
      message: expect.stringContaining('sql or ai'),
    });
  });

  test.each<[CredentialType, string | undefined]>([
    ['bearer', 'https://evil.example/'],
    ['bearer', 'https://api.example.com.evil.example/'],
    ['bearer', undefined],
    ['basic', undefined],
    ['header', 'nonsense'],
    ['secret', URL_OF_HOST],
  ])('%s for %s is refused, and nothing is decrypted', async (type, url) => {
    const row = await storeCredential(database, keys, organisationId, type);
    await expect(open(row, url)).rejects.toMatchObject(refused('credential_host_not_allowed'));
  });

  test('records the use to the minute', async () => {
    const row = await storeCredential(database, keys, organisationId, 'secret');
    expect(row.last_used_at).toBeNull();
    const usedAt = async () => (await findCredential(database.db, organisationId, row.id))?.last_used_at;
    await open(row);
    const first = await usedAt();
    expect(first).toBeInstanceOf(Date);
    await open(row);
    expect(await usedAt()).toEqual(first);
    await database.db.query(
      `UPDATE credentials SET last_used_at = now() - interval '2 minutes' WHERE id = $1`,
      [row.id],
    );
    await Promise.all(Array.from({ length: 20 }, () => open(row)));
    expect((await usedAt())?.getTime()).toBeGreaterThanOrEqual(first?.getTime() ?? 0);
  });

  test('a change and a removal take effect at once', async () => {
    const row = await storeCredential(database, keys, organisationId, 'secret');
    await open(row);
    await change(row, { fields: { value: 'another' } });
    expect((await open(row)).credential).toEqual({ type: 'secret', value: 'another' });
    await deleteCredential({ db: database.db, registry }, organisationId, row.id, { force: false }, OPERATOR);
    await expect(open(row)).rejects.toMatchObject(refused('credential_not_found'));
  });
});

describe('a change', () => {
  test('keeps what it omits, including secrets', async () => {
    const row = await storeCredential(database, keys, organisationId, 'smtp');
    const changed = await change(row, { name: 'mail', fields: { username: 'bea' } });
    expect(presentCredential(changed)).toMatchObject({
      name: 'mail',
      fields: { username: 'bea', host: 'smtp.example.com' },
    });
    expect((await open(changed)).credential).toMatchObject({ username: 'bea', password: 'canary-smtp' });
  });

  test.each<[CredentialType, CredentialChange, string]>([
    ['bearer', { hosts: ['api.example.com', 'evil.example'] }, '/fields/token missing_field'],
    ['smtp', { fields: { host: 'evil.example' } }, '/fields/password missing_field'],
    ['smtp', { fields: { security: 'none' } }, '/fields/password missing_field'],
    ['sql', { fields: { port: 1 } }, '/fields/password missing_field'],
    ['ai', { fields: { base_url: 'https://evil.example' } }, '/fields/api_key missing_field'],
  ])('that sends a %s elsewhere needs its secret again: %j', async (type, what, error) => {
    const row = await storeCredential(database, keys, organisationId, type);
    expect(await errorsOf(change(row, what))).toEqual([error]);
    const [secret = ''] = /\/fields\/(\w+)/.exec(error)?.slice(1) ?? [];
    const changed = await change(row, { ...what, fields: { ...what.fields, [secret]: 'again' } });
    expect(changed.updated_at.getTime()).toBeGreaterThanOrEqual(row.updated_at.getTime());
  });

  test('may narrow the hosts without the secret', async () => {
    const row = await storeCredential(database, keys, organisationId, 'bearer');
    const both = await change(row, { hosts: [...HOSTS, 'b.example'], fields: { token: 'again' } });
    const fewer = await change(both, { hosts: ['b.example'] });
    expect((await open(fewer, 'https://b.example')).credential).toEqual({ type: 'bearer', token: 'again' });
    await expect(open(fewer, URL_OF_HOST)).rejects.toMatchObject({ code: 'credential_host_not_allowed' });
  });

  test('is checked like a new one, and has no effect in another organisation', async () => {
    const row = await storeCredential(database, keys, organisationId, 'bearer');
    expect(await errorsOf(change(row, { fields: { token: '' } }))).toEqual(['/fields/token invalid_value']);
    expect(await errorsOf(change(row, { fields: { colour: 'red' } }))).toEqual([
      '/fields/colour invalid_value',
    ]);
    const other = { ...row, organisation_id: await newOrganisation(database) };
    await expect(change(other, { name: 'mine' })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('removal', () => {
  async function storeWorkflow(config: JsonObject): Promise<number> {
    const flow = {
      nodes: [
        { id: 'start', type: 'trigger.manual', data: {} },
        { id: 'call', type: 'http.request', data: { config } },
      ],
      edges: [{ id: 'e', source: 'start', target: 'call' }],
    };
    const row = await createWorkflow(
      database.db,
      { organisationId, apiKeyId: null },
      { name: 'caller', flow_data: flow } as never,
      { flow: flow as never, triggers: { first: 'trigger.manual', others: [] } },
      registry,
    );
    return row.id;
  }

  test('is refused while a workflow uses it, naming the workflow', async () => {
    const row = await storeCredential(database, keys, organisationId, 'bearer');
    const auth = { type: 'credential', credential_id: row.id };
    const workflowId = await storeWorkflow({ url: URL_OF_HOST, auth });
    const remove = (force: boolean) =>
      deleteCredential({ db: database.db, registry }, organisationId, row.id, { force }, OPERATOR);
    await expect(remove(false)).rejects.toMatchObject({
      code: 'credential_in_use',
      message: expect.stringContaining(`${workflowId} ("caller")`),
    });
    expect(await findCredential(database.db, organisationId, row.id)).toBeDefined();
    expect((await remove(true)).usage.workflows).toEqual([{ id: workflowId, name: 'caller' }]);
    expect(await findCredential(database.db, organisationId, row.id)).toBeUndefined();
  });

  test('is not held up by numbers that only look like its id', async () => {
    const row = await storeCredential(database, keys, organisationId, 'bearer');
    await storeWorkflow({ url: URL_OF_HOST, body: { id: row.id, note: `credential_id ${row.id}` } });
    await deleteCredential({ db: database.db, registry }, organisationId, row.id, { force: false }, OPERATOR);
  });

  test("of another organisation's credential finds nothing", async () => {
    const row = await storeCredential(database, keys, organisationId, 'bearer');
    const other = await newOrganisation(database);
    await expect(
      deleteCredential({ db: database.db, registry }, other, row.id, { force: true }, OPERATOR),
    ).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('secrets', () => {
  test('appear in no row, list, response or audit entry', async () => {
    for (const type of CREDENTIAL_TYPES) {
      const row = await storeCredential(database, keys, organisationId, type);
      await change(row, { fields: FIELDS[type] });
      const shown = JSON.stringify([
        row,
        presentCredential(row),
        await listCredentials(database.db, organisationId),
      ]);
      expect(shown).not.toContain('canary');
    }
    const dump = await dumpRows(database);
    expect(dump).toContain('credential.updated');
    expect(dump).not.toContain('canary');
    expect(dump).not.toContain(Buffer.from('canary').toString('hex'));
  });

  test('every change is in the audit log, with field names only', async () => {
    const own = await newOrganisation(database);
    const row = await storeCredential(database, keys, own, 'bearer');
    await change(row, { name: 'x', fields: { token: 'canary-2' } });
    await deleteCredential({ db: database.db, registry }, own, row.id, { force: false }, OPERATOR);
    const rows = await database.db.query<{ action: string; details: string }>(
      `SELECT action, details::text FROM audit_log WHERE organisation_id = $1 AND action LIKE 'credential.%' ORDER BY id`,
      [own],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'credential.created',
      'credential.updated',
      'credential.deleted',
    ]);
    expect(JSON.parse(rows[1]?.details ?? '')).toMatchObject({
      credential_id: row.id,
      changed: ['name', 'fields.token'],
    });
  });
});

describe('tampering with the database', () => {
  const unreadable = { code: 'credential_unreadable', retryable: false };

  test('a flipped bit is detected', async () => {
    const row = await storeCredential(database, keys, organisationId, 'secret');
    await database.db.query(
      'UPDATE credentials SET ciphertext = set_bit(ciphertext, 300, 1 - get_bit(ciphertext, 300)) WHERE id = $1',
      [row.id],
    );
    const opening = open(row);
    await expect(opening).rejects.toMatchObject({
      ...unreadable,
      explanation: expect.objectContaining({ key: 'ports.credential_damaged' }),
    });
    const { logs } = (await opening.catch((error: unknown) => error)) as { logs: string[] };
    expect(logs.join()).toContain(`"credential_id":${row.id}`);
    await expect(change(row, { fields: { value: 'new' } })).resolves.toMatchObject({ id: row.id });
    expect((await open(row)).credential).toEqual({ type: 'secret', value: 'new' });
  });

  test('the ciphertext of another credential, in this or another organisation, is detected', async () => {
    const other = await newOrganisation(database);
    const rows = [
      await storeCredential(database, keys, organisationId, 'secret'),
      await storeCredential(database, keys, organisationId, 'secret'),
      await storeCredential(database, keys, other, 'secret'),
    ] as const;
    for (const from of [rows[1], rows[2]]) {
      await database.db.query(
        'UPDATE credentials SET ciphertext = (SELECT ciphertext FROM credentials WHERE id = $1) WHERE id = $2',
        [from.id, rows[0].id],
      );
      await expect(open(rows[0])).rejects.toMatchObject(unreadable);
    }
  });

  test.each([
    [`hosts = ARRAY['evil.example']`, 'https://evil.example'],
    [`type = 'secret'`, undefined],
    [`organisation_id = $2`, URL_OF_HOST],
    [`settings = '{"a": 1}'`, URL_OF_HOST],
    [`ciphertext = '\\x00'`, URL_OF_HOST],
    [`key_id = NULL, ciphertext = NULL`, URL_OF_HOST],
  ])('%s', async (assignment, url) => {
    const other = await newOrganisation(database);
    const row = await storeCredential(database, keys, organisationId, 'bearer');
    await database.db.query(`UPDATE credentials SET ${assignment} WHERE id = $1 AND $2::bigint > 0`, [
      row.id,
      other,
    ]);
    const [now] = await database.db.query<{ organisation_id: number; type: CredentialType }>(
      'SELECT organisation_id, type FROM credentials WHERE id = $1',
      [row.id],
    );
    await expect(open({ ...row, ...now }, url)).rejects.toMatchObject(unreadable);
  });
});
