import type { Database } from '@millrace/database/database';
import { DatabaseUnavailableError, toDatabaseError } from '@millrace/database/errors';
import { ERROR_CATALOGUE, type ErrorCode } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { send } from '@millrace/testing/api';
import { UNFINISHED_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestService } from '@millrace/testing/service';
import { describe, expect, test } from 'vitest';

async function withService(
  overrides: Parameters<typeof startTestService>[0],
  work: (service: TestService) => Promise<void>,
): Promise<void> {
  const service = await startTestService({ runsWorker: false, ...overrides });
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}

describe('catalogue', () => {
  test.each(Object.keys(ERROR_CATALOGUE) as ErrorCode[])('%s has an error status and a title', (code) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(ERROR_CATALOGUE[code].status).toBeGreaterThanOrEqual(400);
    expect(ERROR_CATALOGUE[code].title).not.toBe('');
  });
});

describe('500', () => {
  test('an unexpected error reveals nothing; the log has it with its cause under the request id', async () => {
    await withService(
      {
        extend: (app) => {
          app.get('/fail', { config: { public: true } }, async () => {
            throw new Error('the-outer-secret', { cause: new Error('the-inner-secret') });
          });
        },
      },
      async (service) => {
        const { status, json, text } = await send(`${service.url}/fail`, 'GET');
        expect([status, json.code]).toEqual([500, 'internal_error']);
        expect(text).not.toMatch(/secret|stack|\.ts/);
        const line = service.logs.find((entry) => entry.includes('the-outer-secret')) ?? '';
        expect(line).toContain('the-inner-secret');
        expect(line).toContain(String(json.request_id));
      },
    );
  });

  test("a thrown value doesn't have to be an error", async () => {
    await withService(
      { extend: (app) => app.get('/fail', { config: { public: true } }, () => Promise.reject('a text')) },
      async (service) => {
        const { status, json } = await send(`${service.url}/fail`, 'GET');
        expect([status, json.code]).toEqual([500, 'internal_error']);
      },
    );
  });
});

describe('503', () => {
  test('the database is unavailable, wherever that is noticed', async () => {
    const away = new DatabaseUnavailableError(new Error('connect ECONNREFUSED the-address'));
    const reject = () => Promise.reject(away);
    const db = { query: reject, transaction: reject, forOrganisation: reject } as unknown as Database;
    await withService({ deps: { db } }, async (service) => {
      const key = await service.createKey();
      const { status, json, headers, text } = await service.api('GET', '/workflows', { key });
      expect([status, json.code]).toEqual([503, 'database_unavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(text).not.toContain('the-address');
      expect(service.logs.some((line) => line.includes('the-address'))).toBe(true);
    });
  });

  test('a full disk is reported as such', async () => {
    const full = Object.assign(new Error('could not extend file'), { code: '53100', severity: 'ERROR' });
    const extend: NonNullable<Parameters<typeof startTestService>[0]>['extend'] = (app) => {
      app.get('/full', { config: { public: true } }, async () => {
        throw toDatabaseError(full);
      });
    };
    await withService({ extend }, async ({ url }) => {
      const { status, json, headers } = await send(`${url}/full`, 'GET');
      expect([status, json.code, headers.get('retry-after')]).toEqual([503, 'database_unavailable', '2']);
      expect(json.detail).toContain('is full');
    });
  });

  test('a statement that took too long is not taken for a database that is away', async () => {
    const ended = Object.assign(new Error('canceling statement'), { code: '57014', severity: 'ERROR' });
    const extend: NonNullable<Parameters<typeof startTestService>[0]>['extend'] = (app) => {
      app.get('/long', { config: { public: true } }, async () => {
        throw toDatabaseError(ended);
      });
    };
    await withService({ extend }, async ({ url }) => {
      const { status, json, headers } = await send(`${url}/long`, 'GET');
      expect([status, json.code, headers.get('retry-after')]).toEqual([503, 'statement_timeout', '2']);
      expect(json.detail).toContain('Ask for less');
    });
  });

  test('also if the database fails after the key was looked up', async () => {
    let isAway = false;
    await withService({}, async (service) => {
      const { db } = service.database;
      const key = await service.createKey();
      const original = db.forOrganisation.bind(db);
      db.forOrganisation = (organisationId, work) =>
        isAway
          ? Promise.reject(new DatabaseUnavailableError(new Error('gone')))
          : original(organisationId, work);
      isAway = true;
      const body = { name: 'a', flow_data: UNFINISHED_FLOW };
      const headers = { 'idempotency-key': 'once' };
      expect((await service.api('POST', '/workflows', { key, body, headers })).status).toBe(503);
      expect((await service.api('GET', '/workflows/1', { key })).status).toBe(503);
      isAway = false;
      expect((await service.api('POST', '/workflows', { key, body, headers })).status).toBe(201);
    });
  });

  test('/readyz says why the service is not ready; /healthz still responds', async () => {
    const readiness = async () => ({ ready: false, reason: message('api.database_unmigrated') }) as const;
    await withService({ deps: { readiness } }, async (service) => {
      const ready = await send(`${service.url}/readyz`, 'GET');
      expect([ready.status, ready.json.code, ready.json.detail]).toEqual([
        503,
        'not_ready',
        'The database has not been migrated.',
      ]);
      expect(ready.headers.get('retry-after')).not.toBeNull();
      expect((await send(`${service.url}/healthz`, 'GET')).status).toBe(200);
    });
  });
});

test('/readyz and /healthz of a ready service', async () => {
  await withService({}, async (service) => {
    expect((await send(`${service.url}/readyz`, 'GET')).text).toBe('{"status":"ready"}');
    expect((await send(`${service.url}/healthz`, 'GET')).text).toBe('{"status":"alive"}');
  });
});

test("a route that declares neither a scope nor public can't be registered", async () => {
  const declare = (config: object) =>
    startTestService({ runsWorker: false, extend: (app) => app.get('/open', { config }, async () => 'x') });
  await expect(declare({})).rejects.toThrow(
    'GET /open must declare one of config.scope, config.admin and config.public',
  );
  await expect(declare({ public: true, scope: 'workflows:read' })).rejects.toThrow('must declare');
});

test('no log line or response contains a secret', async () => {
  await withService({}, async (service) => {
    const key = await service.createKey();
    const secret = key.text.slice(`mr_${key.keyId}_`.length);
    const hash = 'canary_hash_canary_hash_canary_hash_canaryy';
    const bodyCanary = 'canary-in-the-body';
    const texts: string[] = [];
    const request = async (
      path: string,
      options: Parameters<typeof send>[2] = {},
      method: 'GET' | 'POST' = 'GET',
    ) => {
      const { text, headers } = await send(service.url + path, method, options);
      texts.push(text, JSON.stringify([...headers]));
    };
    await request('/api/v1/workflows', { key });
    await request(`/api/v1/workflows?token=${key.text}`, { key });
    await request(`/api/v1/workflows/${key.text}`, { key });
    await request(`/${key.text}`);
    await request('/api/v1/workflows', { headers: { authorization: `Basic ${key.text}` } });
    await request('/api/v1/workflows', { key: `${key.text}x` });
    await request(`/api/v1/webhooks/${hash}`, { body: { bodyCanary } }, 'POST');
    await request(`/api/v1/webhooks/${hash}?secret=${key.text}`);
    await request('/api/v1/workflows', { key, raw: `{"${bodyCanary}` }, 'POST');
    await request('/api/v1/workflows', { key, body: { name: bodyCanary, flow_data: 1 } }, 'POST');
    await request('/api/v1/workflows', { key, headers: { 'idempotency-key': `${secret} ` } }, 'POST');
    expect(service.logs.length).toBeGreaterThan(10);
    for (const text of [...texts, ...service.logs]) {
      expect(text).not.toContain(secret.slice(0, 20));
      expect(text).not.toContain(hash);
      expect(text).not.toContain(bodyCanary);
    }
    expect(service.logs.some((line) => line.includes(key.keyId) && line.includes('request_id'))).toBe(true);
  });
});
