import { ProtocolError } from './packets.ts';

/** Of the connection (MS-TDS 2.2.6.5). */
export const ENCRYPTION = { off: 0, on: 1, unsupported: 2, required: 3 } as const;

const OPTION = { version: 0, encryption: 1, instance: 2, thread: 3, mars: 4, end: 0xff } as const;

export interface Account {
  readonly host: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

/** PRELOGIN: says which encryption is wanted. */
export function preLogin(encryption: number): Buffer {
  const options: readonly (readonly [option: number, data: Buffer])[] = [
    [OPTION.version, Buffer.alloc(6)],
    [OPTION.encryption, Buffer.from([encryption])],
    [OPTION.instance, Buffer.alloc(1)],
    [OPTION.thread, Buffer.alloc(4)],
    [OPTION.mars, Buffer.alloc(1)],
  ];
  let offset = options.length * 5 + 1;
  const heads: Buffer[] = [];
  for (const [option, data] of options) {
    const head = Buffer.from([option, 0, 0, 0, 0]);
    head.writeUInt16BE(offset, 1);
    head.writeUInt16BE(data.length, 3);
    heads.push(head);
    offset += data.length;
  }
  return Buffer.concat([...heads, Buffer.from([OPTION.end]), ...options.map(([, data]) => data)]);
}

/** What the server says about encryption. @throws ProtocolError */
export function encryptionOf(answer: Buffer): number {
  for (let at = 0; at + 5 <= answer.length && answer[at] !== OPTION.end; at += 5) {
    if (answer[at] === OPTION.encryption) {
      const value = answer[answer.readUInt16BE(at + 1)];
      if (value !== undefined) return value;
    }
  }
  throw new ProtocolError("the other side doesn't speak SQL Server's protocol (TDS)");
}

const VERSION_7_4 = 0x74000004;
const FIXED_BYTES = 94;
/** A database or language that can't be used is an error; changes of both are reported. */
const OPTIONS_1 = 0xe0;
/** As above for the language; and the settings of ODBC, which are those of the SQL standard. */
const OPTIONS_2 = 0x03;
/** Collations may be unknown, and extensions are asked for. */
const OPTIONS_3 = 0x18;
/** Texts may be UTF-8. */
const EXTENSIONS = Buffer.from([0x0a, 1, 0, 0, 0, 1, 0xff]);

/** LOGIN7, with a user of SQL Server's own. */
export function signInMessage({ host, username, password, database }: Account, packetBytes: number): Buffer {
  const fixed = Buffer.alloc(FIXED_BYTES);
  fixed.writeUInt32LE(VERSION_7_4, 4);
  fixed.writeUInt32LE(packetBytes, 8);
  fixed.writeUInt8(OPTIONS_1, 24);
  fixed.writeUInt8(OPTIONS_2, 25);
  fixed.writeUInt8(OPTIONS_3, 27);
  const name = utf16('millrace');
  const extensionsAt = Buffer.alloc(4);
  // In the order of their places; a gap is what this client doesn't use.
  const parts: readonly Buffer[] = [
    name,
    utf16(username),
    disguised(utf16(password)),
    name,
    utf16(host),
    extensionsAt,
    name,
    utf16(''),
    utf16(database),
  ];
  let offset = FIXED_BYTES;
  for (const [index, part] of parts.entries()) {
    fixed.writeUInt16LE(offset, 36 + index * 4);
    fixed.writeUInt16LE(part === extensionsAt ? part.length : part.length / 2, 38 + index * 4);
    offset += part.length;
  }
  extensionsAt.writeUInt32LE(offset, 0);
  // Integrated security, a database file and a new password: none of them.
  for (const place of [78, 82, 86]) fixed.writeUInt16LE(offset, place);
  const message = Buffer.concat([fixed, ...parts, EXTENSIONS]);
  message.writeUInt32LE(message.length, 0);
  return message;
}

/** No encryption, but the protocol wants it: halves of each byte swapped, and bits turned. */
function disguised(password: Buffer): Buffer {
  return Buffer.from(password.map((byte) => (((byte << 4) | (byte >> 4)) & 0xff) ^ 0xa5));
}

export function utf16(text: string): Buffer {
  return Buffer.from(text, 'utf16le');
}
