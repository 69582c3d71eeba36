/** A bucket, and what the keys in it begin with: empty, or ending with a slash. */
export interface BucketPlace {
  readonly bucket: string;
  readonly prefix: string;
}

const PLACE = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/((?:[\w.-]+\/)*[\w.-]+))?\/?$/;
const MAX_LENGTH = 500;

/** Reads `s3://bucket/prefix`; undefined for anything else. */
export function parseBucket(text: string): BucketPlace | undefined {
  const match = text.length > MAX_LENGTH ? null : PLACE.exec(text);
  if (match === null) return undefined;
  const [, bucket = '', prefix] = match;
  return { bucket, prefix: prefix === undefined ? '' : `${prefix}/` };
}
