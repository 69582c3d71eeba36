import { describe, expect, test } from 'vitest';
import { digestHeader } from './digest.ts';

// The example of RFC 7616, 3.9.1.
const MUFASA = { username: 'Mufasa', password: 'Circle of Life' };
const REQUEST = { method: 'GET', url: 'http://www.example.org/dir/index.html' };
const CLIENT_NONCE = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ';
const challenge = (algorithm: string) =>
  `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, ` +
  'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"';

describe('digest authentication', () => {
  test.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ])('gives the response of RFC 7616 for %s', (algorithm, response) => {
    const header = digestHeader(MUFASA, REQUEST, challenge(algorithm), CLIENT_NONCE);
    expect(header).toContain(`response="${response}"`);
    expect(header).toContain(`algorithm=${algorithm}, opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`);
    expect(header).toContain(`qop=auth, nc=00000001, cnonce="${CLIENT_NONCE}"`);
  });

  test('takes the first of several challenges that it can meet', () => {
    const several = `Basic realm="x", Digest realm="r", nonce="a", algorithm=SHA-512-256, ${challenge('SHA-256')}, ${challenge('MD5')}`;
    expect(digestHeader(MUFASA, REQUEST, several, CLIENT_NONCE)).toContain('algorithm=SHA-256,');
  });

  test('does without qop, as old servers do, and quotes what needs it', () => {
    const header = digestHeader({ username: 'a"b', password: '' }, REQUEST, 'Digest realm="r\\"s", nonce=n');
    expect(header).toMatch(
      /^Digest username="a\\"b", realm="r\\"s", nonce="n", uri="\/dir\/index.html", response="[0-9a-f]{32}"$/,
    );
  });

  test.each(['', 'Basic realm="x"', 'Digest realm="r"', 'Digest realm="r", nonce="n", qop="auth-int"'])(
    'has no response to %j',
    (text) => expect(digestHeader(MUFASA, REQUEST, text)).toBeUndefined(),
  );
});
