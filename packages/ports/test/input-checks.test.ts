import { type JsonValue, validateValue } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { checkInput } from '../src/input-checks.ts';

const rows = (count: number): JsonValue =>
  Array.from({ length: count }, (_, n) => ({ id: n, name: `row ${n}`, tags: ['a', 'b'] }));

const ROW_SCHEMA = {
  type: 'array',
  items: { type: 'object', required: ['id', 'price'], properties: { id: { type: 'integer' } } },
};

describe('checkInput', () => {
  it('has nothing to check without a schema', async () => {
    expect(await checkInput(null, rows(1), 1)).toEqual([]);
  });

  it.each([3, 40_000])('finds the same faults however long it takes: %d rows', async (count) => {
    const found = await checkInput(ROW_SCHEMA, rows(count), 1);
    expect(found[0]).toEqual(validateValue(ROW_SCHEMA, rows(3))[0]);
  });

  it('lets the event loop turn while it checks what takes long', async () => {
    let turns = 0;
    const beat = (): void => {
      turns += 1;
      timer = setImmediate(beat);
    };
    let timer = setImmediate(beat);
    const items = { anyOf: Array.from({ length: 1_000 }, (_, n) => ({ const: n })) };
    const input = Array.from({ length: 10_000 }, () => 999);
    const [fault] = await checkInput({ items }, input, 1);
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(10);
    expect(fault).toEqual(validateValue({ items }, input)[0]);
    expect(fault?.keyword).toBe('$schema');
  });

  it('checks all that is sent at the same time', async () => {
    const checks = Array.from({ length: 8 }, (_, n) =>
      checkInput(ROW_SCHEMA, n % 2 === 0 ? rows(10_000) : [], n % 3),
    );
    const counts = (await Promise.all(checks)).map((faults) => faults.length > 0);
    expect(counts).toEqual([true, false, true, false, true, false, true, false]);
  });
});
