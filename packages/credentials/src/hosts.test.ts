import { describe, expect, test } from 'vitest';
import { allowsUrl, normaliseBoundHost } from './hosts.ts';

describe('a host that a credential is bound to', () => {
  test.each([
    ['API.Example.com', 'api.example.com'],
    [' api.example.com. ', 'api.example.com'],
    ['api.example.com:0443', 'api.example.com:443'],
    ['*.Example.com', '*.example.com'],
    ['*.example.com:8443', '*.example.com:8443'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['10.0.0.5:8080', '10.0.0.5:8080'],
    ['0x7f.1', '127.0.0.1'],
    ['[FD00::5]:80', '[fd00::5]:80'],
    ['fd00:0:0::5', '[fd00::5]'],
    ['localhost', 'localhost'],
    ['*', '*'],
  ])('%s is stored as %s', (text, host) => {
    expect(normaliseBoundHost(text)).toBe(host);
    expect(normaliseBoundHost(host)).toBe(host);
  });

  test.each([
    '',
    'https://api.example.com',
    'api.example.com/path',
    'user@api.example.com',
    'api.example.com:0',
    'api.example.com:65536',
    'api.example.com:http',
    '*.10.0.0.5',
    'api.*.com',
    '**',
    '*.*',
    '*example.com',
    '*:443',
    '10.0.0.0/8',
    'a b',
    'a\\b',
    'a%2eb',
    '[::1',
  ])('%s is invalid', (text) => {
    expect(normaliseBoundHost(text)).toBeUndefined();
  });
});

describe('where a credential may be sent', () => {
  test.each<[string, string, boolean]>([
    ['api.example.com', 'https://api.example.com/a', true],
    ['api.example.com', 'http://API.example.com.:8080/a', true],
    ['api.example.com', 'https://api.example.com.evil.example/', false],
    ['api.example.com', 'https://evil.example/api.example.com', false],
    ['api.example.com', 'https://api.example.com@evil.example/', false],
    ['api.example.com', 'https://x.api.example.com/', false],
    ['api.example.com:8443', 'https://api.example.com:8443/', true],
    ['api.example.com:8443', 'https://api.example.com/', false],
    ['api.example.com:443', 'https://api.example.com/', true],
    ['api.example.com:443', 'http://api.example.com/', false],
    ['*.example.com', 'https://a.b.example.com/', true],
    ['*.example.com', 'https://example.com/', false],
    ['*.example.com', 'https://badexample.com/', false],
    ['127.0.0.1', 'http://2130706433/', true],
    ['127.0.0.1', 'http://localhost/', false],
    ['*.0.1', 'http://127.0.0.1/', false],
    ['[fd00::5]', 'http://[fd00:0::5]:80/', true],
    ['*', 'https://anything.example/', true],
    ['*', 'file:///etc/passwd', false],
    ['*', 'nonsense', false],
  ])('%s, %s: %s', (host, url, isAllowed) => {
    expect(allowsUrl([host], url)).toBe(isAllowed);
  });

  test('any of several hosts, and nowhere with none', () => {
    expect(allowsUrl(['a.example', 'b.example'], 'https://b.example')).toBe(true);
    expect(allowsUrl([], 'https://b.example')).toBe(false);
  });
});
