import { expect, test } from 'vitest';
import { failureText } from './failure-text.ts';

const FRAMES = [
  '    at check (/project/a.test.ts:3:5)',
  '    at run (/project/node_modules/vitest/x.js:1:1)',
];

test('says where a failure is, what differs and which own lines led there', () => {
  const error = {
    message: 'expected 1 to be 2',
    diff: '- 2\n+ 1',
    stack: ['Error: expected', ...FRAMES].join('\n'),
  };
  expect(failureText('a.test.ts > adds', [error])).toBe(
    'Failure in a.test.ts > adds\n  expected 1 to be 2\n  - 2\n  + 1\n      at check (/project/a.test.ts:3:5)',
  );
});

test('cuts long messages off', () => {
  expect(failureText('a', [{ message: 'x'.repeat(9_000) }]).length).toBeLessThan(4_100);
});
