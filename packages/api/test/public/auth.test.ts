import { connect } from 'node:net';
import { SCOPES, type Scope } from '@millrace/admin-api';
import { addMember, removeMember, setMemberRole } from '@millrace/identity/members/store';
import { type Method, send } from '@millrace/testing/api';
import { rewriteAuditLog } from '@millrace/testing/audit-log';
import { UNFINISHED_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ limits: { failedAuthPerMinutePerIp: 0 } });
});
afterAll(() => service.stop());

const list = (authorization?: string) =>
  service.api('GET', '/workflows', authorization === undefined ? {} : { headers: { authorization } });
const use = (key: TestKey | string) => service.api('GET', '/workflows', { key });
const update = (set: string, key: TestKey) =>
  service.database.db.query(`UPDATE api_keys SET ${set} WHERE id = $1`, [key.id]);

/** A key whose secret has one wrong character, so that its checksum doesn't match. */
function spoiled(key: TestKey): string {
  const at = 20;
  return key.text.slice(0, at) + (key.text[at] === 'A' ? 'B' : 'A') + key.text.slice(at + 1);
}

async function failuresOf(key: TestKey): Promise<{ consecutive_failures: number; locked: boolean }> {
  const [row] = await service.database.db.query<{ consecutive_failures: number; locked: boolean }>(
    'SELECT consecutive_failures, locked_at IS NOT NULL AS locked FROM api_keys WHERE id = $1',
    [key.id],
  );
  return row ?? { consecutive_failures: -1, locked: false };
}

async function auditOf(key: TestKey, action: string): Promise<{ source_ip: string; details: string }[]> {
  return service.database.db.query(
    'SELECT source_ip, details FROM audit_log WHERE api_key_id = $1 AND action = $2',
    [key.id, action],
  );
}

/** Oldest first. */
async function violationsOf(key: TestKey) {
  return service.database.db.query<{
    repeats: number;
    occurred_at: Date;
    last_occurred_at: Date;
    details: string;
  }>(
    `SELECT repeats, occurred_at, last_occurred_at, details FROM audit_log
     WHERE api_key_id = $1 AND action = 'api_key.scope_violation' ORDER BY id`,
    [key.id],
  );
}

/** Sends a GET with these header lines verbatim and returns the whole response. */
function sendRaw(lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.write(
      `GET /api/v1/workflows HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.join('\r\n')}\r\n\r\n`,
    );
  });
}

describe('401', () => {
  test('without a key: the plain challenge', async () => {
    const { status, json, headers } = await list();
    expect([status, json.code]).toEqual([401, 'invalid_key']);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="millrace"');
  });

  test('every malformed, unknown and wrong key gets the same response', async () => {
    const key = await service.createKey();
    const unknown = key.text.replace(key.keyId, 'abcdefghijkl');
    const headers = [
      'Bearer',
      'Bearer ',
      `Basic ${Buffer.from(`x:${key.text}`).toString('base64')}`,
      key.text,
      `Token ${key.text}`,
      `Bearer  ${key.text}`,
      `Bearer\t${key.text}`,
      `Bearer ${key.text} x`,
      `Bearer ${key.text},Bearer ${key.text}`,
      `Bearer "${key.text}"`,
      `Bearer ${key.text.slice(0, -1)}`,
      `Bearer ${key.text}x`,
      `Bearer ${key.text.toUpperCase()}`,
      `Bearer ${key.text.slice(0, -1)}${key.text.endsWith('a') ? 'b' : 'a'}`,
      `Bearer ${spoiled(key)}`,
      `Bearer ${unknown}`,
      `Bearer mr_${key.keyId}_${'A'.repeat(49)}`,
      'Bearer null',
      `Bearer ${'x'.repeat(10_000)}`,
    ];
    const shapes = new Set<string>();
    for (const header of headers) {
      const { status, text, headers: sent } = await list(header);
      expect([header.slice(0, 40), status]).toEqual([header.slice(0, 40), 401]);
      expect(sent.get('www-authenticate')).toBe('Bearer realm="millrace", error="invalid_token"');
      shapes.add(text.replace(/"request_id":"[^"]*"/, ''));
    }
    expect([...shapes]).toHaveLength(1);
    // Clients that sent another scheme must learn from it too.
    expect([...shapes][0]).toContain('Authorization: Bearer <API key>');
  });

  test('two Authorization headers are refused even if one is right', async () => {
    const key = await service.createKey();
    const right = `Authorization: Bearer ${key.text}`;
    expect(await sendRaw([right])).toMatch(/^HTTP\/1\.1 200 /);
    expect(await sendRaw([right, right])).toMatch(/^HTTP\/1\.1 401 /);
    expect(await sendRaw([right, 'authorization: Bearer x'])).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('a key in the query string or another header is ignored', async () => {
    const { text } = await service.createKey();
    expect((await service.api('GET', `/workflows?access_token=${text}&api_key=${text}`)).status).toBe(401);
    expect((await service.api('GET', '/workflows', { headers: { 'x-api-key': text } })).status).toBe(401);
  });

  test.each([
    ["expires_at = now() - interval '1 second'", 'key_expired'],
    ['revoked_at = now()', 'key_revoked'],
    ['locked_at = now()', 'key_locked'],
  ])('%s is %s, but only to clients with the right secret', async (set, code) => {
    const key = await service.createKey();
    await update(set, key);
    const right = await use(key);
    expect([right.status, right.json.code]).toEqual([401, code]);
    expect(right.headers.get('www-authenticate')).toBe('Bearer realm="millrace", error="invalid_token"');
    expect((await use(spoiled(key))).json.code).toBe('invalid_key');
  });

  test('the scheme is case-insensitive', async () => {
    const key = await service.createKey();
    expect((await list(`bearer ${key.text}`)).status).toBe(200);
    expect((await list(`BEARER ${key.text}`)).status).toBe(200);
  });

  test('a rotated key works for 24 hours and not a second longer, never beyond its own expiry', async () => {
    const key = await service.createKey();
    await update("rotated_at = now() - interval '23 hours 59 minutes'", key);
    expect((await use(key)).status).toBe(200);
    await update("rotated_at = now() - interval '24 hours 1 second'", key);
    expect((await use(key)).json.code).toBe('key_expired');
    await update("rotated_at = now(), expires_at = now() - interval '1 second'", key);
    expect((await use(key)).json.code).toBe('key_expired');
  });
});

describe('lock', () => {
  test('ten failures in a row lock the key; a success in between resets the count', async () => {
    const key = await service.createKey();
    const fail = async (times: number) => {
      for (let time = 0; time < times; time += 1) await use(spoiled(key));
    };
    await fail(9);
    expect((await use(key)).status).toBe(200);
    expect(await failuresOf(key)).toEqual({ consecutive_failures: 0, locked: false });
    await fail(10);
    expect((await failuresOf(key)).locked).toBe(true);
    expect((await use(key)).json.code).toBe('key_locked');
    expect(await auditOf(key, 'api_key.locked')).toHaveLength(1);
  });

  test('200 concurrent wrong secrets are counted exactly and lock once', async () => {
    const key = await service.createKey();
    const answers = await Promise.all(Array.from({ length: 200 }, () => use(spoiled(key))));
    expect(answers.every(({ status }) => status === 401)).toBe(true);
    expect(await failuresOf(key)).toEqual({ consecutive_failures: 200, locked: true });
    expect(await auditOf(key, 'api_key.locked')).toHaveLength(1);
  });
});

const ENDPOINTS: readonly (readonly [Method, string, Scope])[] = [
  ['GET', '/workflows', 'workflows:read'],
  ['GET', '/workflows/1', 'workflows:read'],
  ['GET', '/workflows/1/webhook-info', 'workflows:read'],
  ['GET', '/workflows/1/versions', 'workflows:read'],
  ['GET', '/workflows/1/versions/1', 'workflows:read'],
  ['POST', '/workflows', 'workflows:write'],
  ['PUT', '/workflows/1', 'workflows:write'],
  ['DELETE', '/workflows/1', 'workflows:write'],
  ['POST', '/workflows/1/versions/1/restore', 'workflows:write'],
  ['POST', '/workflows/1/execute', 'executions:execute'],
  ['POST', '/executions/1/cancel', 'executions:execute'],
  ['POST', '/executions/1/rerun', 'executions:execute'],
  ['GET', '/executions', 'executions:read'],
  ['GET', '/executions/1', 'executions:read'],
  ['GET', '/executions/1/events', 'executions:read'],
];

describe('403', () => {
  test('every scope at every endpoint: only the declared one is accepted', async () => {
    const organisationId = await service.createOrganisation();
    for (const scope of SCOPES) {
      const key = await service.createKey({ organisationId, scopes: [scope] });
      for (const [method, path, needed] of ENDPOINTS) {
        const { status, json, headers } = await service.api(method, path, { key });
        const where = `${scope}: ${method} ${path}`;
        if (scope === needed) {
          expect([where, status === 403]).toEqual([where, false]);
        } else {
          expect([where, status, json.code]).toEqual([where, 403, 'insufficient_scope']);
          expect(headers.get('www-authenticate')).toBe(
            `Bearer realm="millrace", error="insufficient_scope", scope="${needed}"`,
          );
        }
      }
    }
  });

  test('precedes the body, the idempotency key and the look-up', async () => {
    const key = await service.createKey({ scopes: ['workflows:read'] });
    const { status } = await service.api('POST', '/workflows', {
      key,
      raw: '{',
      headers: { 'idempotency-key': ' ' },
    });
    expect(status).toBe(403);
    expect((await service.api('DELETE', '/workflows/nonsense', { key })).status).toBe(403);
  });

  test('is recorded with the source address and without secrets', async () => {
    const key = await service.createKey({ scopes: ['workflows:read'] });
    await service.api('DELETE', `/workflows/7?token=${key.text}`, { key });
    const [entry] = await auditOf(key, 'api_key.scope_violation');
    expect(entry?.source_ip).toBe('127.0.0.1');
    expect(JSON.parse(entry?.details ?? '{}')).toEqual({
      method: 'DELETE',
      path: '/api/v1/workflows/7',
      scope: 'workflows:write',
      scopes: ['workflows:write'],
      source_ips: ['127.0.0.1'],
    });
  });

  test('repeats of a key are one entry with a count and the first and last time', async () => {
    const { db } = service.database;
    const key = await service.createKey({ scopes: ['workflows:read'] });
    const other = await service.createKey({
      organisationId: key.organisationId,
      scopes: ['workflows:read'],
    });
    const attempt = (path: string, by = key) => service.api('POST', path, { key: by });
    expect((await attempt('/workflows/7/execute')).status).toBe(403);
    const first = await violationsOf(key);
    const paths = [...Array(20)].map((_, index) => `/executions/${index + 1}/cancel`);
    await Promise.all(paths.map((path) => attempt(path)));
    await service.api('DELETE', '/workflows/7', { key });
    await attempt('/workflows/7/execute', other);
    const [entry, ...more] = await violationsOf(key);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ repeats: 22, occurred_at: first[0]?.occurred_at });
    expect(entry?.last_occurred_at.getTime()).toBeGreaterThan(first[0]?.last_occurred_at.getTime() ?? 0);
    expect(JSON.parse(entry?.details ?? '{}')).toEqual({
      method: 'POST',
      path: '/api/v1/workflows/7/execute',
      scope: 'executions:execute',
      scopes: ['executions:execute', 'workflows:write'],
      source_ips: ['127.0.0.1'],
    });
    expect(await violationsOf(other)).toMatchObject([{ repeats: 1 }]);
    // Another day gets another entry.
    await rewriteAuditLog(db, 'UPDATE audit_log SET repeat_key = repeat_key || $2 WHERE api_key_id = $1', [
      key.id,
      ' before',
    ]);
    await attempt('/workflows/7/execute');
    expect(await violationsOf(key)).toMatchObject([{ repeats: 22 }, { repeats: 1 }]);
  });

  test("lowering the issuer's role limits the key at once, removing the issuer ends it", async () => {
    const { db } = service.database;
    const organisationId = await service.createOrganisation();
    const by = { actor: 'operator' } as const;
    const member = await addMember(db, organisationId, 'ann@example.org', 'editor', by);
    const key = await service.createKey({ organisationId, issuedBy: member.id });
    const create = () =>
      service.api('POST', '/workflows', { key, body: { name: 'a', flow_data: UNFINISHED_FLOW } });
    expect((await create()).status).toBe(201);
    await setMemberRole(db, organisationId, 'ann@example.org', 'viewer', by, { isVouchedFor: true });
    expect((await create()).status).toBe(403);
    expect((await use(key)).status).toBe(200);
    await removeMember(db, organisationId, 'ann@example.org', by);
    expect((await use(key)).status).toBe(403);
  });
});

describe('429 for failed authentications', () => {
  test('the 31st failure within a minute is refused and not counted; the right key still works', async () => {
    const strict = await startTestService();
    try {
      const key = await strict.createKey();
      const attempt = () => strict.api('GET', '/workflows', { key: spoiled(key) });
      for (let time = 0; time < 30; time += 1) expect((await attempt()).status).toBe(401);
      await strict.database.db.query(
        'UPDATE api_keys SET consecutive_failures = 0, locked_at = NULL WHERE id = $1',
        [key.id],
      );
      const refused = await attempt();
      expect([refused.status, refused.json.code]).toEqual([429, 'too_many_failed_authentications']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      // X-Forwarded-For is the client's claim, so it doesn't start a separate count.
      for (let time = 0; time < 3; time += 1) {
        const forged = await send(`${strict.url}/api/v1/workflows`, 'GET', {
          headers: { 'x-forwarded-for': '9.9.9.9' },
        });
        expect(forged.status).toBe(429);
      }
      const [row] = await strict.database.db.query<{ consecutive_failures: number }>(
        'SELECT consecutive_failures FROM api_keys WHERE id = $1',
        [key.id],
      );
      expect(row?.consecutive_failures).toBe(0);
      expect((await strict.api('GET', '/workflows', { key })).status).toBe(200);
      // Behind an unconfigured proxy all clients share one address; the log reports this once, without the claimed one.
      const warnings = strict.logs.filter((line) => line.includes('MILLRACE_TRUST_PROXY'));
      expect(warnings).toHaveLength(1);
      expect(JSON.parse(warnings[0] ?? '{}')).toMatchObject({ level: 40, ip: '127.0.0.1' });
      expect(warnings[0]).not.toContain('9.9.9.9');
    } finally {
      await strict.stop();
    }
  });

  test("the 31st request within a minute beyond a key's scopes is refused and not recorded; others continue", async () => {
    const strict = await startTestService({ runsWorker: false });
    try {
      const organisationId = await strict.createOrganisation();
      const [key, other] = [
        await strict.createKey({ organisationId, scopes: ['workflows:read'] }),
        await strict.createKey({ organisationId, scopes: ['workflows:read'] }),
      ];
      const attempt = (by: TestKey) => strict.api('DELETE', '/workflows/7', { key: by });
      for (let time = 0; time < 30; time += 1) expect((await attempt(key)).status).toBe(403);
      const refused = await attempt(key);
      expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      const entries = await strict.database.db.query(
        `SELECT repeats FROM audit_log WHERE api_key_id = $1 AND action = 'api_key.scope_violation'`,
        [key.id],
      );
      expect(entries).toEqual([{ repeats: 30 }]);
      expect((await strict.api('GET', '/workflows', { key })).status).toBe(200);
      expect((await attempt(other)).status).toBe(403);
    } finally {
      await strict.stop();
    }
  });
});

describe('429 for requests', () => {
  test('a key over its limit has to wait; headers say how much is left; other keys are not affected', async () => {
    const strict = await startTestService({ limits: { requestsPerMinutePerKey: 3 } });
    try {
      const [key, other] = [await strict.createKey(), await strict.createKey()];
      for (const remaining of [2, 1, 0]) {
        const { status, headers } = await strict.api('GET', '/workflows', { key });
        expect(status).toBe(200);
        expect(headers.get('ratelimit-policy')).toBe('"per-key";q=3;w=60');
        expect(headers.get('ratelimit')).toMatch(new RegExp(`^"per-key";r=${remaining};t=\\d+$`));
      }
      const refused = await strict.api('GET', '/workflows', { key });
      expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(refused.headers.get('ratelimit')).toMatch(/r=0/);
      expect((await strict.api('POST', '/workflows', { key, raw: '{' })).status).toBe(429);
      expect((await strict.api('GET', '/workflows', { key: other })).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });

  test('0 turns the limit off', async () => {
    const open = await startTestService({ limits: { requestsPerMinutePerKey: 0 } });
    try {
      const { headers } = await open.api('GET', '/workflows', { key: await open.createKey() });
      expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null]);
    } finally {
      await open.stop();
    }
  });
});

test('the last use of a key is recorded at most once a minute', async () => {
  const key = await service.createKey();
  const lastUsed = async () => {
    const [row] = await service.database.db.query<{ last_used_at: Date | null; last_used_ip: string | null }>(
      'SELECT last_used_at, last_used_ip FROM api_keys WHERE id = $1',
      [key.id],
    );
    return row;
  };
  await use(key);
  const first = await lastUsed();
  expect(first?.last_used_ip).toBe('127.0.0.1');
  await use(key);
  expect((await lastUsed())?.last_used_at).toEqual(first?.last_used_at);
  await update("last_used_at = now() - interval '2 minutes'", key);
  await use(key);
  expect((await lastUsed())?.last_used_at).not.toEqual(first?.last_used_at);
});
