import { describe, expect, test } from 'vitest';
import { readCurl } from './curl.ts';

const URL = 'https://api.example.com/orders';

/** What a command becomes when everything in it is taken over. */
function configOf(command: string) {
  const read = readCurl(command);
  expect(read?.leftOut).toEqual([]);
  return read?.config;
}

describe('readCurl', () => {
  test.each([
    ['a URL', `curl ${URL}`, { url: URL }],
    ['a prompt before it', `$ curl -s ${URL}`, { url: URL }],
    ['a URL without a scheme', 'curl example.com/x', { url: 'http://example.com/x' }],
    ['a method', `curl -X DELETE ${URL}/7`, { method: 'DELETE', url: `${URL}/7` }],
    ['a method without a space', `curl -XPUT '${URL}'`, { method: 'PUT', url: URL }],
    ['only the head', `curl -sI ${URL}`, { method: 'HEAD', url: URL }],
    [
      'a query, with a repeated name',
      `curl "${URL}?status=open&tag=a&tag=b%20c"`,
      { url: URL, query: { status: 'open', tag: ['a', 'b c'] } },
    ],
    [
      'data as query',
      `curl -G -d limit=5 --data-urlencode 'q=a b' ${URL}`,
      { url: URL, query: { limit: '5', q: 'a b' } },
    ],
    [
      'headers, without those the node sets',
      `curl ${URL} -H 'Accept: text/csv' -H "Host: x" -A me --compressed`,
      { url: URL, headers: { Accept: 'text/csv', 'User-Agent': 'me' } },
    ],
    [
      'JSON over several lines',
      `curl --location '${URL}' \\\n  --header 'Content-Type: application/json' \\\n  --data '{\n "a": 9007199254740993\n}'`,
      { method: 'POST', url: URL, body: { a: JSON.rawJSON('9007199254740993') } },
    ],
    ['--json', `curl --json '{"a": [1]}' ${URL}`, { method: 'POST', url: URL, body: { a: [1] } }],
    [
      'what a browser copies',
      `curl '${URL}' -H 'content-type: application/json' --data-raw $'{"a":"it\\'s \\u0021"}'`,
      { method: 'POST', url: URL, body: { a: "it's !" } },
    ],
    [
      'JSON of another type',
      `curl -d '{"a":1}' -H 'Content-Type: application/vnd.x+json' ${URL}`,
      { method: 'POST', url: URL, headers: { 'Content-Type': 'application/vnd.x+json' }, body: { a: 1 } },
    ],
    [
      'a form',
      `curl -d a=1 -d 'b=x+y' ${URL}`,
      { method: 'POST', url: URL, body: { a: '1', b: 'x y' }, body_type: 'form' },
    ],
    [
      'text',
      `curl -X POST --data-raw 'plain' -H 'Content-Type: text/plain' ${URL}`,
      {
        method: 'POST',
        url: URL,
        headers: { 'Content-Type': 'text/plain' },
        body: 'plain',
        body_type: 'text',
      },
    ],
    ['a time limit', `curl -m 2.5 ${URL}`, { url: URL, timeout_ms: 2_500 }],
    ['templates', `curl '${URL}/{{trigger.data.id}}'`, { url: `${URL}/{{trigger.data.id}}` }],
    ['only the first command', `curl ${URL} | jq .`, { url: URL }],
  ])('%s', (_what, command, config) => {
    expect(configOf(command)).toEqual(config);
  });

  test.each([
    ['-u', `curl -u me:p:w ${URL}`, 'basic', { username: 'me', password: 'p:w' }],
    [
      'a user in the URL',
      'curl https://me:p%40w@api.example.com/orders',
      'basic',
      { username: 'me', password: 'p@w' },
    ],
    ['--digest', `curl --digest -u me:pw ${URL}`, 'digest', { username: 'me', password: 'pw' }],
    ['a bearer token', `curl -H 'Authorization: Bearer t0ken' ${URL}`, 'bearer', { token: 't0ken' }],
    [
      'basic as a header',
      `curl -H 'authorization: Basic ${btoa('me:pw')}' ${URL}`,
      'basic',
      { username: 'me', password: 'pw' },
    ],
    [
      'another scheme',
      `curl -H 'Authorization: Token t0ken' ${URL}`,
      'header',
      { name: 'Authorization', value: 'Token t0ken' },
    ],
    ['an API key', `curl -H 'X-Api-Key: k' ${URL}`, 'header', { name: 'X-Api-Key', value: 'k' }],
    ['a cookie', `curl -b 'session=s' ${URL}`, 'header', { name: 'Cookie', value: 'session=s' }],
    ['a key in the URL', `curl '${URL}?api_key=k'`, 'query', { name: 'api_key', value: 'k' }],
  ])('a secret becomes a credential and is nowhere else: %s', (_what, command, type, fields) => {
    expect(readCurl(command)).toEqual({
      config: { url: URL, auth: { type: 'credential', credential_id: 0 } },
      credential: { type, fields, hosts: ['api.example.com'] },
      leftOut: [],
    });
  });

  test('what the node has nothing for is named, further secrets without their value', () => {
    const read = readCurl(
      `curl -k -F file=@x.png -d @body.json -X PURGE -u me:pw -H 'Cookie: session=s3cret' '${URL}?token=s3cret' --cacert ca.pem ${URL}/2`,
    );
    expect(read?.leftOut).toEqual([
      ...['-k', '-F', '-d @body.json', '--cacert', `${URL}/2`, '-H Cookie', '?token', '-X PURGE'],
    ]);
    expect(JSON.stringify(read?.config)).not.toContain('s3cret');
  });

  test.each([
    'curl',
    'curl -X POST',
    'curl ftp://example.com/x',
    'curly https://example.com',
    'see curl https://x',
  ])('is null for %j', (text) => {
    expect(readCurl(text)).toBeNull();
  });

  test('a name of members is only a name', () => {
    const query = readCurl(`curl '${URL}?__proto__=1&constructor=2'`)?.config.query;
    expect(Object.entries(query as object)).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
  });
});
