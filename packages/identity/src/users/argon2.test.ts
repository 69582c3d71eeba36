import { expect, test } from 'vitest';
import { argon2id, argon2idInJavaScript } from './argon2.ts';

test("Node's and JavaScript's hashes are the same, so accounts outlast a change of Node", async () => {
  const input = {
    message: 'Pässwort 合言葉',
    nonce: Buffer.alloc(16, 7),
    memory: 64,
    passes: 2,
    parallelism: 1,
    tagLength: 32,
  };
  const hash = await argon2id(input);
  expect(hash).toHaveLength(32);
  expect(await argon2idInJavaScript(input)).toEqual(hash);
});
