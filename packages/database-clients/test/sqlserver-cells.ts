/** Types and cells as a server sends them (MS-TDS 2.2.5). */
export const INT4 = Buffer.from([0x38]);
export const VARIANT = Buffer.from([0x62, 0x49, 0x1f, 0, 0]);

export function DECIMAL(precision: number, scale: number): Buffer {
  return Buffer.from([0x6c, 17, precision, scale]);
}

export function NVARCHAR(maxBytes: number): Buffer {
  return Buffer.from([0xe7, maxBytes & 255, maxBytes >> 8, 0x09, 0x04, 0xd0, 0x00, 0x34]);
}

export function BYTES(token: number, maxBytes: number): Buffer {
  return Buffer.from([token, maxBytes & 255, maxBytes >> 8]);
}

/** `varchar(100)` in a language and a sort order, or in UTF-8. */
export function charType(language: number, sortOrder: number, isUtf8 = false): Buffer {
  return Buffer.from([0xa7, 100, 0, language & 255, language >> 8, 0xd0, isUtf8 ? 0x24 : 0, sortOrder]);
}

/** A little-endian number of `size` bytes. */
export function int(value: number, size: number): Buffer {
  const buffer = Buffer.alloc(size);
  buffer.writeUIntLE(value, 0, size);
  return buffer;
}

/** Bytes after their length in two bytes. */
export function short(bytes: Buffer): Buffer {
  return Buffer.concat([int(bytes.length, 2), bytes]);
}

export function text(value: string): Buffer {
  return short(Buffer.from(value, 'utf16le'));
}

/** Bytes in parts of a length. */
export function parts(bytes: Buffer, size: number): Buffer {
  const total = Buffer.alloc(8);
  total.writeBigUInt64LE(BigInt(bytes.length));
  const each: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    each.push(int(part.length, 4), part);
  }
  return Buffer.concat([total, ...each, int(0, 4)]);
}

/** Bytes written in hexadecimal, with spaces where they help. */
export function hex(bytes: string): Buffer {
  return Buffer.from(bytes.replaceAll(' ', ''), 'hex');
}
