import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromCanvasId, toCanvasId } from './canvas-id.ts';

const ids = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom('"', '\\', '%', '\n', '2', 'a', ' ', '\u0000') }),
);

test("a canvas id leads back to the node's id, and can be used in selectors", () => {
  fc.assert(
    fc.property(ids, (id) => {
      expect(fromCanvasId(toCanvasId(id))).toBe(id);
      expect(toCanvasId(id)).not.toMatch(/["\\\n\r\f\0]/);
    }),
  );
});

test('ids of letters stay as they are', () => {
  expect(toCanvasId('http_request_2')).toBe('http_request_2');
  expect(toCanvasId('say "hi"')).toBe('say %22hi%22');
});
