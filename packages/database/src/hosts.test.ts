import { describe, expect, test } from 'vitest';
import { parseDatabaseHosts } from './hosts.ts';

const urlsOf = (text: string) => parseDatabaseHosts(text)?.urls;

describe('the URL of a database', () => {
  test('with one server is unchanged', () => {
    const url = 'postgresql://millrace:s%40cret@db.example.com:5433/millrace?sslmode=verify-full';
    expect(parseDatabaseHosts(url)).toEqual({ urls: [url], mustBeWritable: false });
  });

  test('with several servers and their ports, shares everything else', () => {
    expect(parseDatabaseHosts('postgresql://m:p@one:5433,two,[2001:db8::1]:5434/db?sslmode=disable')).toEqual(
      {
        urls: [
          'postgresql://m:p@one:5433/db?sslmode=disable',
          'postgresql://m:p@two/db?sslmode=disable',
          'postgresql://m:p@[2001:db8::1]:5434/db?sslmode=disable',
        ],
        mustBeWritable: true,
      },
    );
  });

  test('accepts hosts and ports as parameters, and socket folders', () => {
    expect(urlsOf('postgres://m@/db?host=one,two&port=5433')).toEqual([
      'postgres://m@one:5433/db',
      'postgres://m@two:5433/db',
    ]);
    expect(urlsOf('postgres://m@localhost:5432/db?host=%2Frun%2Fpg')).toEqual([
      'postgres://m@localhost:5432/db?host=%2Frun%2Fpg',
    ]);
  });

  test.each([
    ['read-write', true],
    ['primary', true],
    ['any', false],
  ])('target_session_attrs=%s', (attribute, mustBeWritable) => {
    const hosts = parseDatabaseHosts(`postgresql://one,two/db?target_session_attrs=${attribute}`);
    expect(hosts).toEqual({ urls: ['postgresql://one/db', 'postgresql://two/db'], mustBeWritable });
  });

  test.each([
    'postgresql://one,two/db?target_session_attrs=standby',
    'postgresql://one,two',
    'postgresql://one,two/',
    'postgresql://one:5432,two:x/db',
    'postgresql://one,two/db?port=1,2,3',
    'mysql://one/db',
    'one:5432/db',
  ])('%s is refused', (url) => {
    expect(parseDatabaseHosts(url)).toBeUndefined();
  });
});
