import { parseJson, stringifyJson } from '@millrace/engine';
import { runs } from '@millrace/testing/property-runs';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

let service: TestService;
let key: TestKey;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false, limits: { requestsPerMinutePerKey: 0 } });
  key = await service.createKey();
});
afterAll(() => service.stop());

const text = fc
  .string({ unit: 'grapheme', maxLength: 30 })
  .filter((value) => value.isWellFormed() && !value.includes('\0'));
/** JSON text with numbers beyond a double's precision and names that JavaScript treats specially. */
const exactNumber = fc.constantFrom(
  '9007199254740993',
  '1e400',
  '-0.12345678901234567890',
  '1.50',
  '0',
  '-7',
  '1E2',
);
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    exactNumber,
    text.map((value) => JSON.stringify(value)),
    fc.constantFrom('true', 'false', 'null'),
    fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(
        fc.tuple(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toString')), tie('json')),
        {
          maxLength: 3,
          selector: ([name]) => name,
        },
      )
      .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
  ),
}));

const flow = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.array(json, { maxLength: 4 }))
  .map(([count, configs]) => {
    const nodes = Array.from({ length: count }, (_, index) => {
      const type = index === 0 ? 'trigger.manual' : 'core.set';
      const config = index === 0 ? '{}' : `{"values":{"value":${configs[index] ?? '1'}}}`;
      return `{"id":"n${index}","type":"${type}","data":{"config":${config}},"extra":${configs[index] ?? 'null'}}`;
    });
    const edges = nodes.slice(1).map((_, index) => `{"source":"n${index}","target":"n${index + 1}"}`);
    return `{"nodes":[${nodes.join(',')}],"edges":[${edges.join(',')}],"beside":${configs[0] ?? '{}'}}`;
  });

const workflow = fc.record({
  name: text.filter((value) => value.trim() !== ''),
  description: text,
  tags: fc.uniqueArray(
    text.filter((value) => value !== ''),
    { maxLength: 4 },
  ),
  is_test_mode: fc.boolean(),
  flow,
});

test('the response of GET can be put back, which changes nothing, and posted, which creates a copy', async () => {
  const property = fc.asyncProperty(
    workflow,
    fc.constantFrom('draft', 'inactive', 'archived'),
    async (made, status) => {
      const { flow: flowText, ...rest } = made;
      const raw = `{"flow_data":${flowText},${stringifyJson(rest).slice(1)}`;
      const created = await service.api('POST', '/workflows', { key, raw });
      expect([created.status, created.text]).toEqual([201, expect.any(String)]);
      const path = `/workflows/${created.json.id}`;
      if (status === 'inactive') await service.api('PUT', path, { key, body: { status } });
      if (status === 'archived') await service.api('DELETE', path, { key });

      const read = await service.api('GET', path, { key });
      expect(read.json.flow_data).toEqual(parseJson(flowText));
      expect(read.text).toContain(`"flow_data":${stringifyJson(parseJson(flowText))}`);
      const put = await service.api('PUT', path, { key, raw: read.text });
      expect([put.status, put.text]).toEqual([200, read.text]);
      expect((await service.api('GET', path, { key })).text).toBe(read.text);

      const copy = await service.api('POST', '/workflows', { key, raw: read.text });
      expect(copy.status).toBe(201);
      const own = ['id', 'created_at', 'updated_at', 'status'];
      const content = Object.entries(copy.json).filter(([name]) => !own.includes(name));
      expect(read.json).toMatchObject(Object.fromEntries(content));
      expect(copy.json.id).not.toBe(created.json.id);
    },
  );
  await fc.assert(property, { numRuns: runs(60) });
});
