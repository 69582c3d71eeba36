import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import { KafkaProtocolError } from '../bytes.ts';
import { decodeLz4 } from './lz4.ts';
import { broken, decodeSnappy, tooLarge } from './snappy.ts';

/**
 * Decompresses the records of a batch. The main thread is left to others in between.
 * @param codec as the attributes of the batch name it
 * @throws KafkaProtocolError also if there is more than `maxBytes`
 */
export async function decompress(codec: number, bytes: Buffer, maxBytes: number): Promise<Buffer> {
  switch (codec) {
    case 0:
      return bytes;
    case 1:
      return await inThread(promisify(gunzip)(bytes, { maxOutputLength: maxBytes }), maxBytes);
    case 2:
      return await inTurns(decodeSnappy(bytes, maxBytes));
    case 3:
      return await inTurns(decodeLz4(bytes, maxBytes));
    case 4:
      return await inThread(promisify(zstdDecompress)(bytes, { maxOutputLength: maxBytes }), maxBytes);
    default:
      throw new KafkaProtocolError(`messages are compressed by an unknown method (${codec})`);
  }
}

async function inThread(work: Promise<Buffer>, maxBytes: number): Promise<Buffer> {
  return await work.catch((error: unknown) => {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw isTooLarge ? tooLarge(maxBytes) : broken();
  });
}

async function inTurns(work: Generator<void, Buffer>): Promise<Buffer> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await turn();
  }
}
