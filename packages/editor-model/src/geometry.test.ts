import { expect, test } from 'vitest';
import { innermostAt } from './geometry.ts';

const OUTER = { id: 'outer', position: { x: 100, y: 100 }, size: { width: 600, height: 400 } };
const INNER = { id: 'inner', position: { x: 150, y: 160 }, size: { width: 200, height: 100 } };

test.each([
  [
    { x: 160, y: 170 },
    { id: 'inner', at: { x: 10, y: 10 } },
  ],
  [
    { x: 350, y: 260 },
    { id: 'inner', at: { x: 200, y: 100 } },
  ],
  [
    { x: 351, y: 260 },
    { id: 'outer', at: { x: 251, y: 160 } },
  ],
  [{ x: 99, y: 200 }, null],
])('a point is in the smallest frame around it: %o', (point, found) => {
  expect(innermostAt([OUTER, INNER], point)).toEqual(found);
  expect(innermostAt([INNER, OUTER], point)).toEqual(found);
});
