import { describe, expect, it } from 'vitest';
import { parseAllowHosts } from './allow-hosts.ts';

function rulesOf(...entries: string[]) {
  const { rules, problems } = parseAllowHosts(entries);
  expect(problems).toEqual([]);
  return rules;
}

describe('entries that name hosts', () => {
  it.each([
    ['intern.example', 'intern.example', 443, true],
    ['INTERN.example.', 'intern.example', 443, true],
    ['intern.example', 'a.intern.example', 443, false],
    ['intern.example', 'xintern.example', 443, false],
    ['intern.example:8080', 'intern.example', 8080, true],
    ['intern.example:8080', 'intern.example', 80, false],
    ['*.intern.example', 'a.intern.example', 443, true],
    ['*.intern.example', 'a.b.intern.example', 443, true],
    ['*.intern.example', 'intern.example', 443, false],
    ['*.intern.example', 'aintern.example', 443, false],
    ['*.intern.example:81', 'a.intern.example', 80, false],
    ['localhost', 'localhost', 3000, true],
    ['müller.example', 'xn--mller-kva.example', 443, true],
  ])('%s for %s port %i: %s', (entry, host, port, expected) => {
    expect(rulesOf(entry).allowsHost({ host, port })).toBe(expected);
  });
});

describe('entries that name addresses', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1', 80, true],
    ['127.0.0.1', '127.0.0.2', 80, false],
    ['127.0.0.1:3000', '127.0.0.1', 3000, true],
    ['127.0.0.1:3000', '127.0.0.1', 3001, false],
    ['0x7f.1', '127.0.0.1', 80, true],
    ['10.0.0.0/8', '10.200.0.1', 80, true],
    ['10.0.0.0/8', '11.0.0.1', 80, false],
    ['::1', '::1', 80, true],
    ['[::1]', '::1', 80, true],
    ['[fd00::5]:8080', 'fd00::5', 8080, true],
    ['[fd00::5]:8080', 'fd00::5', 80, false],
    ['fd00::/8', 'fd12::1', 80, true],
    ['::/0', '127.0.0.1', 80, false],
    ['0.0.0.0/0', '::1', 80, false],
    ['::ffff:0:0/96', '127.0.0.1', 80, false],
    ['127.0.0.1', '::ffff:127.0.0.1', 80, false],
  ])('%s for %s port %i: %s', (entry, address, port, expected) => {
    expect(rulesOf(entry).allowsAddress(address, port)).toBe(expected);
  });
});

describe('invalid entries', () => {
  it.each([
    '',
    '*',
    '*.',
    'a*.example',
    '*.10.0.0.1',
    'https://intern.example',
    'intern.example/path',
    'intern.example:0',
    'intern.example:65536',
    'intern.example:http',
    'user@intern.example',
    'intern.example?x',
    'intern.example#x',
    'two names',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'intern.example/8',
    'fd00::/129',
    '1.2.3.4.5',
    '[::1',
    '[intern.example]',
  ])('%j allows nothing and is reported', (entry) => {
    const { rules, problems } = parseAllowHosts([entry, 'good.example']);
    expect(problems).toEqual([expect.stringContaining(`MILLRACE_ALLOW_HOSTS: ${JSON.stringify(entry)}`)]);
    expect(rules.allowsHost({ host: 'good.example', port: 80 })).toBe(true);
    expect(rules.allowsHost({ host: 'intern.example', port: 80 })).toBe(false);
  });
});
