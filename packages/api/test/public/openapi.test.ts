import { readFile } from 'node:fs/promises';
import { send } from '@millrace/testing/api';
import { startTestService, type TestService } from '@millrace/testing/service';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: { readonly [name: string]: { readonly $ref?: string; readonly value?: unknown } };
}
interface Response {
  readonly description: string;
  readonly headers?: object;
  readonly content?: { readonly [mediaType: string]: Media };
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly description?: string;
  }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: { readonly [mediaType: string]: Media };
  };
  readonly responses: { readonly [status: string]: Response };
  readonly 'x-millrace-scope'?: string;
  readonly 'x-millrace-extension'?: boolean;
}
interface Document {
  readonly openapi: string;
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: {
    readonly schemas: object;
    readonly examples: { readonly [name: string]: { readonly value: unknown } };
  };
}

let service: TestService;
let document: Document;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  const { status, text } = await send(`${service.url}/api/v1/openapi.json`, 'GET');
  expect(status).toBe(200);
  document = JSON.parse(text) as Document;
});
afterAll(() => service.stop());

function operations(): [name: string, operation: Operation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
}

const CONTRACT: { readonly [operation: string]: string | undefined } = {
  'GET /api/v1/workflows': 'workflows:read',
  'GET /api/v1/workflows/{id}': 'workflows:read',
  'GET /api/v1/workflows/{id}/webhook-info': 'workflows:read',
  'POST /api/v1/workflows': 'workflows:write',
  'PUT /api/v1/workflows/{id}': 'workflows:write',
  'DELETE /api/v1/workflows/{id}': 'workflows:write',
  'POST /api/v1/workflows/{id}/execute': 'executions:execute',
  'GET /api/v1/executions': 'executions:read',
  'GET /api/v1/executions/{id}': 'executions:read',
  'POST /api/v1/webhooks/{hash}': undefined,
};

describe('the document', () => {
  test('is OpenAPI 3.1 and matches the committed file', async () => {
    expect(document.openapi).toBe('3.1.0');
    const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8');
    expect(document).toEqual(JSON.parse(committed));
  });

  test('has every operation of the contract with its scope; all others are marked as extensions', () => {
    const found = Object.fromEntries(operations());
    for (const [name, scope] of Object.entries(CONTRACT)) {
      expect([name, found[name]?.['x-millrace-scope']]).toEqual([name, scope]);
      expect(found[name]?.['x-millrace-extension']).toBeUndefined();
    }
    for (const [name, operation] of operations()) {
      if (!(name in CONTRACT)) expect([name, operation['x-millrace-extension']]).toEqual([name, true]);
    }
  });

  test('describes every operation: id, summary, tag, security, errors, examples', () => {
    const ids = operations().map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [name, operation] of operations()) {
      expect([name, operation.summary, operation.tags.length]).toEqual([
        name,
        expect.stringMatching(/\S/),
        1,
      ]);
      expect([name, operation.description]).toEqual([name, expect.stringMatching(/\S/)]);
      const isProtected = operation['x-millrace-scope'] !== undefined;
      expect([name, operation.security]).toEqual([name, isProtected ? [{ apiKey: [] }] : []]);
      const statuses = Object.keys(operation.responses);
      const expected = isProtected ? ['401', '403', '422', '429', '500', '503'] : ['500', '503'];
      expect(statuses, name).toEqual(expect.arrayContaining(expected));
      if (name.includes('{')) expect(statuses, name).toContain('404');
      for (const parameter of operation.parameters ?? []) {
        expect([name, parameter.name, parameter.description]).toEqual([
          name,
          parameter.name,
          expect.any(String),
        ]);
      }
    }
  });

  test('says for every object without members of its own whether it may have any', () => {
    const unclear: string[] = [];
    const look = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { type, properties, additionalProperties } = value as { readonly [name: string]: unknown };
      const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
      if (isObject && properties === undefined && additionalProperties === undefined) unclear.push(at);
      for (const [name, member] of Object.entries(value)) look(member, `${at}/${name}`);
    };
    look({ paths: document.paths, schemas: document.components.schemas }, '');
    expect(unclear).toEqual([]);
  });

  test('says which bodies are optional, and what a webhook accepts', () => {
    const found = Object.fromEntries(operations());
    const required = (name: string) => found[name]?.requestBody?.required ?? false;
    expect(required('POST /api/v1/workflows')).toBe(true);
    expect(required('PUT /api/v1/workflows/{id}')).toBe(true);
    expect(required('POST /api/v1/workflows/{id}/execute')).toBe(false);
    expect(required('POST /api/v1/executions/{id}/cancel')).toBe(false);
    expect(required('POST /api/v1/webhooks/{hash}')).toBe(false);
    expect(Object.keys(found['POST /api/v1/webhooks/{hash}']?.requestBody?.content ?? {})).toEqual([
      'application/json',
      'application/x-www-form-urlencoded',
    ]);
  });

  test('lists the headers an operation reads', () => {
    const found = Object.fromEntries(operations());
    const headers = (name: string) =>
      found[name]?.parameters
        ?.filter((parameter) => parameter.in === 'header')
        .map(({ name: header }) => header);
    expect(headers('GET /api/v1/workflows/{id}')).toEqual(['If-None-Match']);
    expect(headers('GET /api/v1/executions/{id}/events')).toEqual(['Last-Event-ID']);
    expect(headers('PUT /api/v1/workflows/{id}')).toEqual(['If-Match']);
    expect(headers('POST /api/v1/workflows')).toEqual(['Idempotency-Key']);
  });

  test('only promises rate limit headers where they are sent', () => {
    for (const [name, { responses }] of operations()) {
      for (const [status, { headers = {} }] of Object.entries(responses)) {
        // A webhook counts a call before checking its address and signature.
        const isCounted = ['401', '403'].includes(status) && name === 'POST /api/v1/webhooks/{hash}';
        const isEarly = ['401', '403', '408', '414', '431'].includes(status) && !isCounted;
        if (isEarly) expect([name, status, 'RateLimit' in headers]).toEqual([name, status, false]);
      }
      expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(['414', '431'])]);
    }
  });

  test('every error response is problem+json', () => {
    for (const [name, { responses }] of operations()) {
      for (const [status, response] of Object.entries(responses)) {
        if (status < '400') continue;
        expect([name, status, Object.keys(response.content ?? {})]).toEqual([
          name,
          status,
          ['application/problem+json'],
        ]);
      }
    }
  });

  test('every example is valid', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'document');
    const escapeStep = (step: string) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));
    let count = 0;
    const check = (pointer: readonly string[], media: Media) => {
      const validate = ajv.compile({ $ref: `document#/${[...pointer, 'schema'].map(escapeStep).join('/')}` });
      const named = Object.values(media.examples ?? {}).map(
        ({ $ref, value }) => value ?? document.components.examples[$ref?.split('/').at(-1) ?? '']?.value,
      );
      for (const example of media.example === undefined ? named : [media.example]) {
        count += 1;
        expect([pointer.join(' '), validate(example), validate.errors]).toEqual([
          pointer.join(' '),
          true,
          null,
        ]);
      }
    };
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { responses, requestBody }] of Object.entries(methods)) {
        for (const [type, media] of Object.entries(requestBody?.content ?? {})) {
          check(['paths', path, method, 'requestBody', 'content', type], media);
        }
        for (const [status, response] of Object.entries(responses)) {
          for (const [type, media] of Object.entries(response.content ?? {})) {
            check(['paths', path, method, 'responses', status, 'content', type], media);
          }
        }
      }
    }
    expect(count).toBeGreaterThan(50);
  });
});

describe('the page at /docs', () => {
  test('the bare path redirects to it', async () => {
    const { status, headers } = await send(`${service.url}/`, 'GET', { headers: { accept: 'text/html' } });
    expect([status, headers.get('location')]).toEqual([302, '/docs']);
  });

  test('is served from here and mentions no other host', async () => {
    const redirect = await send(`${service.url}/docs`, 'GET');
    expect([redirect.status, redirect.headers.get('location')]).toEqual([301, '/docs/']);
    const { status, text, headers } = await send(`${service.url}/docs/`, 'GET');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/html');
    expect(text.match(/(?:https?:)?\/\/[\w.-]+/g)).toBeNull();
    const [source = ''] = [...text.matchAll(/<script src="([^"]+)"/g)].map((match) => match[1]);
    const script = await send(new URL(source, `${service.url}/docs/`).href, 'GET');
    expect([script.status, script.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('javascript'),
    ]);
  });

  test('can neither load nor send anything elsewhere, and runs only its own script', async () => {
    const { headers } = await send(`${service.url}/docs/`, 'GET');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toMatch(/script-src 'self' 'sha256-[A-Za-z0-9+/=]+';/);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  });

  test.each([
    ['/docs/js/scalar.js', 'public, max-age=3600'],
    ['/docs/', 'no-cache'],
    ['/docs/guides', 'no-cache'],
    ['/docs/guides/nodes', 'no-cache'],
    ['/docs/guides/style.css', 'no-cache'],
  ])('%s is compressed once asked for, and not sent again unchanged', async (path, caching) => {
    const answers = [];
    for (const accepted of ['gzip', 'identity']) {
      // fetch decompresses what is compressed.
      answers.push(await send(`${service.url}${path}`, 'GET', { headers: { 'accept-encoding': accepted } }));
    }
    const [compressed, plain] = answers;
    expect(compressed?.headers.get('content-encoding')).toBe('gzip');
    expect(plain?.headers.get('content-encoding')).toBeNull();
    expect(compressed?.text).toBe(plain?.text);
    expect([compressed?.headers.get('vary'), compressed?.headers.get('cache-control')]).toEqual([
      'accept-encoding',
      caching,
    ]);
    const etag = compressed?.headers.get('etag') ?? '';
    const again = await send(`${service.url}${path}`, 'GET', { headers: { 'if-none-match': etag } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('has fonts, telemetry, agent and proxy turned off', async () => {
    const { text } = await send(`${service.url}/docs/`, 'GET');
    expect(text).toContain('"withDefaultFonts": false');
    expect(text).toContain('"telemetry": false');
    expect(text).toMatch(/"agent": \{\s*"disabled": true/);
    expect(text).not.toContain('proxyUrl');
  });
});

describe('the documentation', () => {
  const read = (path: string) =>
    send(`${service.url}/docs/guides${path}`, 'GET', { headers: { accept: 'text/html' } });

  test('is served from here, runs no script, and leads to every guide', async () => {
    const { status, text, headers } = await read('');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'self'; img-src 'self'; form/,
    );
    expect(text).not.toContain('<script');
    const paths = [
      ...new Set([...text.matchAll(/href="\/docs\/guides(\/[^".]+)"/g)].map(([, path = '']) => path)),
    ];
    expect(paths.length).toBeGreaterThan(20);
    const statuses = await Promise.all(paths.map(async (path) => [path, (await read(path)).status]));
    expect(statuses.filter(([, each]) => each !== 200)).toEqual([]);
  });

  test('has the set-up of each example, the decisions, and the pictures', async () => {
    expect((await read('/examples/fan-out')).text).toContain('<h1');
    expect((await read('/adr/0001-postgresql-only-and-embedded')).status).toBe(200);
    const [, picture = ''] = /src="\/docs\/guides(\/images\/[^"]+)"/.exec((await read('/editor')).text) ?? [];
    const { status, headers } = await send(`${service.url}/docs/guides${picture}`, 'GET');
    expect([status, headers.get('content-type')]).toEqual([200, 'image/png']);
  });

  test('can be searched, and what was searched for is shown as text', async () => {
    const { text } = await read(`?q=${encodeURIComponent('idempotency-key header')}`);
    expect(text).toContain('href="/docs/guides/api#');
    const hostile = await read(`?q=${encodeURIComponent('"><script>x</script>')}`);
    expect([hostile.status, hostile.text.includes('<script')]).toEqual([200, false]);
    expect(hostile.text).toContain('Nothing contains all of these words');
    expect((await read('?q=a&q=b')).status).toBe(200);
  });

  test.each([
    '/nothing',
    '/adr/nothing',
    '/images/nothing.png',
    '/..%2f..%2fpackage.json',
    '/examples/..%2f..',
  ])('404: %s', async (path) => {
    expect((await send(`${service.url}/docs/guides${path}`, 'GET')).status).toBe(404);
  });
});
