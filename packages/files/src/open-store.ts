import { createOwnedStore } from './folder-owner.ts';
import { type OwnedStore, ownStore } from './owned-store.ts';
import { S3Client } from './s3-client.ts';
import { bucketMark } from './s3-owner.ts';
import { createS3Store } from './s3-store.ts';
import type { FileSettings } from './settings.ts';

/**
 * The store that the settings name.
 * @param identify the installation's id, asked for until it is known
 */
export function openStore(
  { folder, s3 }: Pick<FileSettings, 'folder' | 's3'>,
  identify: () => Promise<string>,
): OwnedStore {
  if (s3 === null) return createOwnedStore(folder, identify);
  const client = new S3Client(s3);
  return ownStore(createS3Store(client), bucketMark(client), identify);
}
