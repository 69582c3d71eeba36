import { describe, expect, test } from 'vitest';
import { awsHeaders } from './aws.ts';

// The keys, time and signatures of AWS's published test suite for Signature Version 4 (aws-sig-v4-test-suite).
const KEYS = {
  access_key_id: 'AKIDEXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  session_token: null,
  region: 'us-east-1',
  service: 'service',
};
const AT = '20150830T123600Z';
const LIMITS = { timeoutMs: 1, maxResponseBytes: 1, maxRedirects: 0 };

describe('signing for AWS', () => {
  test.each([
    ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'get-vanilla-query-order-key-case',
      'GET',
      '/?Param2=value2&Param1=value1',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      'get-vanilla-query-unreserved',
      'GET',
      '/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
      '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
    ],
  ])('gives the published signature of %s', async (_name, method, path, signature) => {
    const url = `https://example.amazonaws.com${path}`;
    const headers = await awsHeaders(KEYS, { method, url, headers: {}, ...LIMITS }, AT);
    expect(headers).toEqual({
      'x-amz-date': AT,
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
        `SignedHeaders=host;x-amz-date, Signature=${signature}`,
    });
  });

  test('takes region and service from the host, and signs a session token', async () => {
    const headers = await awsHeaders(
      { ...KEYS, region: null, service: null, session_token: 'session' },
      {
        method: 'POST',
        url: 'https://sqs.eu-central-1.amazonaws.com/',
        headers: { 'content-type': 'text/plain' },
        body: 'a',
        ...LIMITS,
      },
      AT,
    );
    expect(headers.authorization).toContain('/20150830/eu-central-1/sqs/aws4_request');
    expect(headers.authorization).toContain('x-amz-security-token');
    expect(headers).toMatchObject({ 'x-amz-security-token': 'session' });
    expect(headers).not.toHaveProperty('content-type');
  });
});
