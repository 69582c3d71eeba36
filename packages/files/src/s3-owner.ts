import { createHash } from 'node:crypto';
import { ForeignStoreError, MARKER, type OwnerMark } from './owned-store.ts';
import { type S3Client, S3Error, textOf, toFileError } from './s3-client.ts';

/** Each look is a request. Within this time, a mark that somebody changed by hand isn't seen. */
const TRUSTED_MS = 10_000;

/** The bucket holds the files of another installation; the message says how to fix that. */
export class ForeignBucketError extends ForeignStoreError {
  override readonly name = 'ForeignBucketError';

  constructor(place: string, mark: string, owner: string, own: string) {
    super(
      `The bucket for files, ${place}, belongs to another installation (${owner}; this one is ${own}). Two databases that share a bucket and prefix delete each other's files. ` +
        'If the other database is in use, set MILLRACE_FILES_STORE to another bucket or prefix, and copy the files with "millrace files copy". ' +
        `If this database has taken its place, as after a restore or a move, stop all processes of the other for good and delete the object ${mark}.`,
    );
  }
}

/** The object that says which installation a bucket, or the part of it with a prefix, belongs to. */
export function bucketMark(client: S3Client): OwnerMark {
  const object = `${client.prefix}${MARKER}`;
  return {
    name: `${object} in ${client.place}`,
    trustedMs: TRUSTED_MS,
    async read() {
      const { status, text } = await client.text({ method: 'GET', key: MARKER, accepts: [404] });
      if (status !== 404) return text.trim();
      // A bucket that isn't there must not look like one that is free.
      if (textOf(text, 'Code') !== 'NoSuchBucket') return null;
      throw toFileError(new S3Error(`there is no ${client.place}`, status, 'NoSuchBucket'));
    },
    /** Services that don't know the condition are asked afterwards who was last. */
    async take(id) {
      const bytes = Buffer.from(`${id}\n`);
      const body = { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
      const headers = { 'if-none-match': '*' };
      await client.text({ method: 'PUT', key: MARKER, headers, body, accepts: [409, 412] });
    },
    foreign: (owner, own) => new ForeignBucketError(client.place, object, owner, own),
  };
}
