import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { message } from '@millrace/messages';
import { FileError } from './file-error.ts';
import type { ByteRange, FileStore } from './file-store.ts';
import { elementsOf, type S3Client, type S3Response, textOf } from './s3-client.ts';

const MIB = 1024 * 1024;
/** The least that services take for a part, but for the last one; a smaller file is one request. */
const PART_BYTES = 5 * MIB;
/** A file has 10,000 parts at most: later ones are larger. */
const LARGER_AFTER = 1_000;
const LARGER_PART_BYTES = 16 * MIB;
const MAX_PARTS = 10_000;
/** Of all files that this process writes: bytes that have arrived and aren't sent yet. */
const MAX_WAITING_BYTES = 256 * MIB;
/** A response that breaks off is continued so often. */
const MAX_RESUMES = 3;

/** Bytes that wait to be sent. */
class WaitingBytes {
  #bytes = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** @throws FileError `file_store_unavailable`: the bucket takes less than what arrives */
  add(bytes: number): void {
    if (this.#bytes + bytes > this.#max) {
      throw new FileError('file_store_unavailable', message('service.file_store_unavailable'), {
        cause: new Error('too many files are being written at the same time'),
      });
    }
    this.#bytes += bytes;
  }

  remove(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/**
 * Files in a bucket. A file is there once all of it is: small ones are one request, larger ones are put together from parts.
 * @param limits for tests
 */
export function createS3Store(
  client: S3Client,
  limits: { readonly waitingBytes?: number; readonly partBytes?: number } = {},
): FileStore {
  const waiting = new WaitingBytes(limits.waitingBytes ?? MAX_WAITING_BYTES);
  const partBytes = limits.partBytes ?? PART_BYTES;
  return {
    async write(id, source) {
      const writing = new Writing(client, keyOf(id), waiting, partBytes);
      try {
        for await (const chunk of source) await writing.add(chunk);
        await writing.finish();
      } catch (error) {
        // What can't be given up now is with the file.
        await writing.giveUp().catch(() => {});
        throw error;
      }
    },
    async read(id, size, range) {
      const key = keyOf(id);
      const part = range ?? { start: 0, end: size - 1 };
      if (size === 0) {
        if (!(await hasSize(client, key, 0))) throw missing();
        return Readable.from([]);
      }
      const source = { response: await openPart(client, key, size, part) };
      const stream = Readable.from(partsOf(client, key, size, part, source), { objectMode: false });
      // What is never read doesn't even begin to be read, and would keep its connection.
      stream.once('close', () => source.response.body.destroy());
      return stream;
    },
    has: async (id, size) => hasSize(client, keyOf(id), size),
    async delete(id) {
      const key = keyOf(id);
      await discard(await client.send({ method: 'DELETE', key, accepts: [404] }));
      for (const upload of await listUploads(client, key)) await abort(client, key, upload);
    },
    freeBytes: async () => null,
  };
}

function keyOf(id: string): string {
  // Ids come from rows; nothing else must become part of a key.
  if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error('not the id of a file');
  return id;
}

/** A file whose bytes arrive. */
class Writing {
  readonly #client: S3Client;
  readonly #key: string;
  readonly #waiting: WaitingBytes;
  readonly #partBytes: number;
  readonly #etags: string[] = [];
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #sentBytes = 0;
  /** Hashed as it arrives: all of a part at once would hold the process. */
  #hash: Hash = createHash('sha256');
  #upload: string | null = null;

  constructor(client: S3Client, key: string, waiting: WaitingBytes, partBytes: number) {
    this.#client = client;
    this.#key = key;
    this.#waiting = waiting;
    this.#partBytes = partBytes;
  }

  async add(chunk: Uint8Array): Promise<void> {
    this.#waiting.add(chunk.byteLength);
    this.#bytes += chunk.byteLength;
    this.#chunks.push(chunk);
    this.#hash.update(chunk);
    const wanted = this.#etags.length < LARGER_AFTER ? this.#partBytes : LARGER_PART_BYTES;
    if (this.#bytes >= wanted) await this.#sendPart();
  }

  async finish(): Promise<void> {
    if (this.#upload === null) {
      const body = this.#take();
      await discard(await this.#client.send({ method: 'PUT', key: this.#key, body }));
      return;
    }
    if (this.#bytes > 0) await this.#sendPart();
    await complete(this.#client, this.#key, this.#upload, this.#etags, this.#sentBytes);
    this.#upload = null;
  }

  async giveUp(): Promise<void> {
    this.#waiting.remove(this.#bytes);
    this.#bytes = 0;
    this.#chunks = [];
    if (this.#upload !== null) await abort(this.#client, this.#key, this.#upload);
  }

  async #sendPart(): Promise<void> {
    this.#upload ??= await begin(this.#client, this.#key);
    const number = this.#etags.length + 1;
    if (number > MAX_PARTS) throw new Error('the file has too many parts');
    const size = this.#bytes;
    const query = { partNumber: String(number), uploadId: this.#upload };
    const body = this.#take();
    const sent = await this.#client.send({ method: 'PUT', key: this.#key, query, body });
    await discard(sent);
    this.#etags.push(sent.headers.etag ?? '');
    this.#sentBytes += size;
  }

  #take(): { readonly bytes: Uint8Array; readonly sha256: string } {
    const body = { bytes: Buffer.concat(this.#chunks, this.#bytes), sha256: this.#hash.digest('hex') };
    this.#waiting.remove(this.#bytes);
    this.#chunks = [];
    this.#bytes = 0;
    this.#hash = createHash('sha256');
    return body;
  }
}

async function begin(client: S3Client, key: string): Promise<string> {
  const { text } = await client.text({ method: 'POST', key, query: { uploads: '' } });
  const upload = textOf(text, 'UploadId');
  if (upload !== '') return upload;
  throw new FileError('file_store_unavailable', message('service.file_store_unavailable'), {
    cause: new Error('the response to CreateMultipartUpload has no UploadId'),
  });
}

/** A repeated request of which only the response was lost finds no upload any more, but the file. */
async function complete(
  client: S3Client,
  key: string,
  uploadId: string,
  etags: readonly string[],
  size: number,
): Promise<void> {
  const parts = etags.map(
    (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
  );
  const bytes = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
  const body = { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
  const headers = { 'content-type': 'application/xml' };
  const { text, status } = await client.text({
    ...{ method: 'POST', key, query: { uploadId }, headers, body, accepts: [404] },
  });
  // A failure after the head was sent comes with 200.
  const isComplete = status !== 404 && textOf(text, 'Code') === '';
  if (isComplete || (await hasSize(client, key, size))) return;
  throw new FileError('file_store_unavailable', message('service.file_store_unavailable'), {
    cause: new Error(`CompleteMultipartUpload: ${textOf(text, 'Code')} ${textOf(text, 'Message')}`),
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

async function abort(client: S3Client, key: string, uploadId: string): Promise<void> {
  await discard(await client.send({ method: 'DELETE', key, query: { uploadId }, accepts: [404] }));
}

/** Uploads of a file that were begun, and neither finished nor given up. Services that can't list them (501) forget them by themselves. */
async function listUploads(client: S3Client, key: string): Promise<string[]> {
  const { prefix } = client;
  const { status, text } = await client.text({
    ...{ method: 'GET', key: '', query: { uploads: '', prefix: `${prefix}${key}` }, accepts: [405, 501] },
  });
  if (status !== 200) return [];
  return elementsOf(text, 'Upload')
    .filter((upload) => textOf(upload, 'Key') === `${prefix}${key}`)
    .map((upload) => textOf(upload, 'UploadId'));
}

async function hasSize(client: S3Client, key: string, size: number): Promise<boolean> {
  const found = await client.send({ method: 'HEAD', key, accepts: [404] });
  await discard(found);
  return found.status === 200 && Number(found.headers['content-length']) === size;
}

/** @throws FileError `file_missing` if there is no file of this size */
async function openPart(
  client: S3Client,
  key: string,
  size: number,
  { start, end }: ByteRange,
): Promise<S3Response> {
  const headers = { range: `bytes=${start}-${end}` };
  const response = await client.send({ method: 'GET', key, headers, accepts: [404, 416] });
  const isWhole =
    response.status === 200 && start === 0 && Number(response.headers['content-length']) === size;
  const isPart = response.status === 206 && response.headers['content-range']?.endsWith(`/${size}`) === true;
  if (isPart || (isWhole && end === size - 1)) return response;
  await discard(response);
  throw missing();
}

/** The bytes; a response that breaks off is continued where it ended. @param source whose response is the current one */
async function* partsOf(
  client: S3Client,
  key: string,
  size: number,
  range: ByteRange,
  source: { response: S3Response },
): AsyncGenerator<Uint8Array> {
  let at = range.start;
  for (let resumes = 0; ; resumes += 1) {
    try {
      for await (const piece of source.response.body as AsyncIterable<Uint8Array>) {
        at += piece.byteLength;
        yield piece;
      }
      if (at > range.end) return;
      throw new Error('the response ended too early');
    } catch (cause) {
      if (resumes === MAX_RESUMES) {
        throw new FileError('file_store_unavailable', message('service.file_store_unavailable'), { cause });
      }
    }
    source.response = await openPart(client, key, size, { start: at, end: range.end });
  }
}

/** Frees the connection for the next request. */
async function discard({ body }: S3Response): Promise<void> {
  // Short, and of no interest.
  body.resume();
  await finished(body);
}

function missing(): FileError {
  return new FileError('file_missing', message('service.file_missing'));
}
