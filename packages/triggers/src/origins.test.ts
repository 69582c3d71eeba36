import { expect, it } from 'vitest';
import { isOrigin, originFaults } from './origins.ts';

it.each([
  'https://www.example.com',
  'https://a-b.example:8443',
  'https://[2001:db8::1]',
  'http://localhost:3000',
])('%s is a website', (origin) => {
  expect(isOrigin(origin)).toBe(true);
});

it.each([
  ['has a path', 'https://www.example.com/'],
  ['is not encrypted', 'http://www.example.com'],
  ['stands for several', 'https://*.example.com'],
  ['ends the policy', "https://a.example; script-src 'unsafe-inline'"],
  ['has an account', 'https://user@www.example.com'],
  ['has the usual port', 'https://www.example.com:443'],
  ['is of another kind', 'ftp://www.example.com'],
  ['is no URL', 'www.example.com'],
])('what %s is none: %s', (_what, text) => {
  expect(isOrigin(text)).toBe(false);
});

it('each that is none is a fault of its own', () => {
  const faults = originFaults(['https://a.example', 'b.example', '*']);
  expect(faults.map(({ pointer }) => pointer)).toEqual(['/allowed_origins/1', '/allowed_origins/2']);
});
