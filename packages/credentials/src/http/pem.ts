import { createPrivateKey, type KeyObject } from 'node:crypto';
import { normalisePem } from '@millrace/egress/pem';

/** @throws Error if it can't be read */
export function readPrivateKey(pem: string): KeyObject {
  return createPrivateKey(normalisePem(pem));
}
