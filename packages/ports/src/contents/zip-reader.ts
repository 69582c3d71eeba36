import { Readable } from 'node:stream';
import { message, verbatim } from '@millrace/messages';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { DocumentFault } from '../documents/fault.ts';
import { type Host, UnservedError } from './host.ts';

/** Entries that an archive may have. */
const MAX_ENTRIES = 10_000;

/** An archive: what it says that it has, and the contents. */
export interface Archive {
  readonly entries: readonly Entry[];
  /**
   * The decompressed content of an entry. More or fewer bytes than the archive declares are an error.
   * @throws DocumentFault, also while it is read
   */
  readonly read: (entry: Entry) => AsyncGenerator<Uint8Array>;
}

/** @throws DocumentFault invalid_data; document_too_complex for too many entries */
export async function openArchive(host: Host, input: number): Promise<Archive> {
  const size = host.inputs[input]?.size ?? 0;
  const zip = await asFault(() =>
    fromRandomAccessReaderPromise(new HostReader(host, input), size, { lazyEntries: true, autoClose: false }),
  );
  if (zip.entryCount > MAX_ENTRIES) {
    throw new DocumentFault('document_too_complex', message('ports.zip_too_many', { max: MAX_ENTRIES }));
  }
  const entries: Entry[] = [];
  await asFault(async () => {
    for await (const entry of zip.eachEntry()) entries.push(entry);
  });
  return { entries, read: (entry) => readEntry(zip, entry) };
}

async function* readEntry(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  if (entry.isEncrypted()) {
    throw new DocumentFault('invalid_data', message('ports.zip_encrypted', { name: entry.fileName }));
  }
  try {
    yield* (await zip.openReadStreamPromise(entry)) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw faultOf(error);
  }
}

async function asFault<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw faultOf(error);
  }
}

function faultOf(error: unknown): unknown {
  if (error instanceof UnservedError || error instanceof DocumentFault || !(error instanceof Error)) {
    return error;
  }
  return new DocumentFault(
    'invalid_data',
    message('ports.zip_broken', { reason: verbatim(error.message.replace(/\.$/, '')) }),
  );
}

class HostReader extends RandomAccessReader {
  readonly #host: Host;
  readonly #input: number;

  constructor(host: Host, input: number) {
    super();
    this.#host = host;
    this.#input = input;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#host.read(this.#input, start, end), { objectMode: false });
  }
}
