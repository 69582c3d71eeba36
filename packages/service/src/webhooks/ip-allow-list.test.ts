import { describe, expect, test } from 'vitest';
import { createAllowList } from './ip-allow-list.ts';

describe('addresses that may call', () => {
  const allows = createAllowList(['203.0.113.7', '10.20.0.0/16', '2001:db8::/32', '::1']);

  test.each([
    '203.0.113.7',
    '10.20.255.255',
    '2001:db8:1::9',
    '::1',
    '::ffff:203.0.113.7',
    '::FFFF:10.20.1.1',
  ])('%s is allowed', (address) => expect(allows(address)).toBe(true));

  test.each([
    '203.0.113.8',
    '10.21.0.0',
    '2001:db9::1',
    '::2',
    '::ffff:203.0.113.8',
    '',
    'unknown',
    '203.0.113.7 ',
  ])('%j is not', (address) => expect(allows(address)).toBe(false));

  test('all addresses of a family', () => {
    const all = createAllowList(['0.0.0.0/0']);
    expect([all('198.51.100.1'), all('::ffff:198.51.100.1'), all('2001:db8::1')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('an invalid address makes the list invalid', () => {
    expect(() => createAllowList(['example.com'])).toThrow('example.com');
  });
});
