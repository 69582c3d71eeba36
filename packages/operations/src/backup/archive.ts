import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { Decrypter, Encrypter } from 'age-encryption';
import { type Extract, extract, type Pack, pack } from 'tar-stream';
import { BackupError, damaged } from './errors.ts';

/** One file in the archive; small enough to be held in memory. */
export interface ArchiveEntry {
  readonly name: string;
  readonly body: Buffer;
}

/** The first line of every file in age's format. */
const AGE_MAGIC = 'age-encryption.org/v1\n';
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Scrypt with N = 2^17 takes 128 MiB and about a second, for us and for anyone who guesses. */
const WORK_FACTOR = 17;
/** Far more than any entry has. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024;

/**
 * Writes a tar archive, compressed by zstd, and encrypted in age's format if there is a passphrase. No faster than `out` takes it.
 * @param entries asked for one after the other
 */
export async function writeArchive(
  entries: AsyncIterable<ArchiveEntry>,
  out: Writable,
  passphrase: string | null,
): Promise<void> {
  const tar = pack();
  const compress = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  const encrypt =
    passphrase === null ? passOn : (source: AsyncIterable<Buffer>) => encrypted(source, passphrase);
  const written = pipeline(Readable.from(tar as AsyncIterable<Buffer>), compress, encrypt, out);
  await Promise.all([written, fill(tar, entries)]);
}

async function fill(tar: Pack, entries: AsyncIterable<ArchiveEntry>): Promise<void> {
  const mtime = new Date(0);
  try {
    for await (const { name, body } of entries) {
      await new Promise<void>((resolve, reject) => {
        tar.entry({ name, mtime, mode: 0o600 }, body, (error) => (error ? reject(error) : resolve()));
      });
    }
    tar.finalize();
  } catch (error) {
    tar.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

async function* passOn(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* source;
}

async function* encrypted(source: AsyncIterable<Buffer>, passphrase: string): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter();
  encrypter.setScryptWorkFactor(WORK_FACTOR);
  encrypter.setPassphrase(passphrase);
  yield* await encrypter.encrypt(ReadableStream.from(source));
}

/**
 * Reads what {@link writeArchive} wrote, no faster than entries are asked for.
 * @param askPassphrase called if the file is encrypted
 * @throws BackupError `backup_damaged`, `backup_passphrase`
 */
export async function* readArchive(
  source: Readable,
  askPassphrase: () => Promise<string>,
): AsyncGenerator<ArchiveEntry> {
  const tar = extract();
  /** What happened while the passphrase was asked for says nothing about the file. */
  let refusal: unknown;
  const ask = () =>
    askPassphrase().catch((error: unknown) => {
      refusal = error;
      throw error;
    });
  const decompressed = createZstdDecompress();
  const read = pipeline(Readable.from(decrypted(source, ask)), decompressed);
  // Whichever fails first ends the archive, and so the loop below.
  const fed = Promise.all([read, feed(decompressed, tar)]);
  fed.catch((error: Error) => tar.destroy(error));
  try {
    for await (const entry of tar) {
      const { name, size } = entry.header;
      if (size > MAX_ENTRY_BYTES) throw damaged(`${name} is too large`);
      const chunks: Buffer[] = [];
      for await (const chunk of entry) chunks.push(chunk as Buffer);
      yield { name, body: Buffer.concat(chunks) };
    }
    await fed;
  } catch (error) {
    if (refusal !== undefined) throw refusal;
    throw error instanceof BackupError ? error : damaged("its content can't be read", error);
  } finally {
    decompressed.destroy();
    source.destroy();
  }
}

async function feed(source: AsyncIterable<Buffer>, tar: Extract): Promise<void> {
  for await (const chunk of source) {
    if (!tar.write(chunk)) await new Promise<void>((resolve) => tar.once('drain', resolve));
  }
  tar.end(() => {});
}

async function* decrypted(
  source: AsyncIterable<Buffer>,
  askPassphrase: () => Promise<string>,
): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < AGE_MAGIC.length) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const whole = startingWith(head, chunks);
  if (head.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC)) return yield* whole;
  if (head.subarray(0, AGE_MAGIC.length).toString('latin1') !== AGE_MAGIC) {
    throw damaged("it doesn't begin as a backup does");
  }
  const decrypter = new Decrypter();
  decrypter.addPassphrase(await askPassphrase());
  const decrypting = decrypter.decrypt(ReadableStream.from(whole)).catch((error: Error) => {
    if (!error.message.includes('no identity matched')) throw error;
    throw new BackupError(
      'backup_passphrase',
      'The passphrase is wrong, or the beginning of the backup is damaged. Nothing was restored.',
    );
  });
  yield* await decrypting;
}

async function* startingWith(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
