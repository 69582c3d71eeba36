import { Readable } from 'node:stream';
import { ApiError } from '@millrace/errors/errors';
import { runSeed, runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readParts } from './parts.ts';

const HEADERS = { 'content-type': 'multipart/form-data; boundary=x' };
const LIMITS = { parts: 20, files: 3, fieldBytes: 1_000 };

const part = (about: string, content: string) =>
  `--x\r\nContent-Disposition: form-data${about}\r\n\r\n${content}\r\n`;

async function sizeOf(source: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const chunk of source) size += chunk.byteLength;
  return size;
}

const read = (pieces: readonly string[], limits: Parameters<typeof readParts>[2] = LIMITS) =>
  readParts(Readable.from(pieces.map((piece) => Buffer.from(piece))), HEADERS, limits, ({ source }) =>
    sizeOf(source),
  );

describe('reading parts', () => {
  test('is refused beyond the limit of parts, also if the body then breaks off', async () => {
    const refused = { code: 'invalid_body' };
    await expect(read([part('; name="a"', 'b').repeat(21)])).rejects.toMatchObject(refused);
    await expect(read([part('; name="a"; filename=""', '').repeat(21)])).rejects.toMatchObject(refused);
    await expect(read([`${part('; name="a"', 'b').repeat(20)}--x--`])).resolves.toHaveLength(20);
  });

  test('passes files on one after the other, and drops what is left of them', async () => {
    const file = part('; name="a"; filename="b"', 'c'.repeat(300_000));
    const seen: string[] = [];
    const body = Readable.from([Buffer.from(`${file}${file}--x--`)]);
    const parts = await readParts(body, HEADERS, LIMITS, async ({ name, source }, field) => {
      seen.push(`${field} ${name} begins`);
      await source[Symbol.asyncIterator]().next();
      seen.push('ends');
      return 'kept';
    });
    expect(parts).toEqual([
      ['a', 'kept'],
      ['a', 'kept'],
    ]);
    expect(seen).toEqual(['a b begins', 'ends', 'a b begins', 'ends']);
  });

  test('whatever is sent is read or refused, and nothing is thrown where nobody catches it', async () => {
    const fragment = fc.constantFrom(
      '--x',
      '--x--',
      '\r\n',
      '-',
      'Content-Disposition: form-data',
      'Content-Disposition: attachment',
      '; name="a"',
      '; filename="b"',
      '; filename=""',
      'Content-Type: application/octet-stream',
      'text',
      part('; name="a"', 'text'),
      part('', 'nameless'),
      part('; name="a"; filename="b"', 'c'.repeat(100)),
      part('; name="a"; filename=""', ''),
      part('; filename="b"', 'c'),
      part('; name="a"', 'b').repeat(21),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fragment, { maxLength: 30 }), fc.boolean(), async (pieces, takesUnnamed) => {
        const outcome = await read(pieces, { ...LIMITS, takesUnnamed }).catch((error: unknown) => error);
        if (!Array.isArray(outcome)) expect(outcome).toBeInstanceOf(ApiError);
      }),
      { numRuns: runs(300), seed: runSeed() },
    );
  });
});
