import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { message } from '@millrace/messages';
import { SecretError } from './errors.ts';

/** A key and its name in the database and in ciphertexts. */
export interface MasterKey {
  /** 16 hexadecimal digits derived from the key, which can't be recovered from them. */
  readonly id: string;
  readonly bytes: Buffer;
}

/*
 * A sealed string: version (1 byte), id of the key (8), salt (16), nonce (12), ciphertext, tag (16). AES-256-GCM (NIST SP 800-38D) with a
 * separate key for each: HKDF-SHA-256 (RFC 5869) of the master key and the random salt, so the number of nonces per key never gets near the
 * limit. Version, id and the owning record are authenticated too.
 */
const VERSION = 1;
const ID_BYTES = 8;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + ID_BYTES;
const PREFIX_BYTES = HEADER_BYTES + SALT_BYTES + NONCE_BYTES;
const CIPHER = 'aes-256-gcm';

/** @param bytes 32 random bytes */
export function masterKey(bytes: Buffer): MasterKey {
  return { id: derive(bytes, Buffer.alloc(0), 'millrace key id', ID_BYTES).toString('hex'), bytes };
}

/**
 * Encrypts a string.
 * @param belongsTo names the record; only the same name opens it again
 */
export function seal(key: MasterKey, text: string, belongsTo: string): Buffer {
  const header = Buffer.concat([Buffer.of(VERSION), Buffer.from(key.id, 'hex')]);
  const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(NONCE_BYTES)];
  const cipher = createCipheriv(CIPHER, textKey(key, salt), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(additionalData(header, belongsTo));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([header, salt, nonce, body, cipher.getAuthTag()]);
}

/** Id of the key that a sealed string names. @throws SecretError `secret_damaged` */
export function keyIdOf(sealed: Buffer): string {
  if (sealed.length < PREFIX_BYTES + TAG_BYTES || sealed[0] !== VERSION) throw damaged();
  return sealed.subarray(1, HEADER_BYTES).toString('hex');
}

/**
 * Decrypts what {@link seal} encrypted.
 * @throws SecretError `secret_damaged` when a bit of it was changed or it belongs to another record
 */
export function unseal(key: MasterKey, sealed: Buffer, belongsTo: string): string {
  if (keyIdOf(sealed) !== key.id) throw damaged();
  const salt = sealed.subarray(HEADER_BYTES, HEADER_BYTES + SALT_BYTES);
  const nonce = sealed.subarray(HEADER_BYTES + SALT_BYTES, PREFIX_BYTES);
  const decipher = createDecipheriv(CIPHER, textKey(key, salt), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(additionalData(sealed.subarray(0, HEADER_BYTES), belongsTo));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const body = [decipher.update(sealed.subarray(PREFIX_BYTES, -TAG_BYTES)), decipher.final()];
    return Buffer.concat(body).toString('utf8');
  } catch {
    throw damaged();
  }
}

function textKey(key: MasterKey, salt: Buffer): Buffer {
  return derive(key.bytes, salt, 'millrace sealed text', 32);
}

function derive(key: Buffer, salt: Buffer, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, purpose, length));
}

function additionalData(header: Buffer, belongsTo: string): Buffer {
  return Buffer.concat([header, Buffer.from(belongsTo, 'utf8')]);
}

function damaged(): SecretError {
  return new SecretError('secret_damaged', message('secrets.damaged'));
}
