/** The values of a call of sp_executesql: the text, the declarations, then the parameters. */
export function readParameters(body: Buffer): readonly unknown[] {
  if (body.readUInt16LE(0) !== 0xffff || body.readUInt16LE(2) !== 10)
    throw new Error('another procedure is called');
  const reader = new Reader(body, 6);
  const values: unknown[] = [];
  while (!reader.isAtEnd) {
    const name = reader.bytes(2 * reader.u8()).toString('utf16le');
    if (values.length >= 2 && name !== `@p${values.length - 1}`)
      throw new Error(`the name ${name} is unexpected`);
    if (reader.u8() !== 0) throw new Error('an output parameter is sent');
    values.push(reader.value());
  }
  return values;
}

class Reader {
  readonly #data: Buffer;
  #at: number;

  constructor(data: Buffer, at: number) {
    this.#data = data;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#data.length;
  }

  u8(): number {
    this.#at += 1;
    return this.#data.readUInt8(this.#at - 1);
  }

  u16(): number {
    this.#at += 2;
    return this.#data.readUInt16LE(this.#at - 2);
  }

  bytes(length: number): Buffer {
    this.#at += length;
    if (this.#at > this.#data.length) throw new Error('a value is cut off');
    return this.#data.subarray(this.#at - length, this.#at);
  }

  value(): unknown {
    const token = this.u8();
    switch (token) {
      case 0xe7:
        return this.#text();
      case 0x26:
        return this.#integer();
      case 0x68:
        this.u8();
        return this.u8() === 0 ? null : this.u8() === 1;
      case 0x6d:
        this.u8();
        return this.bytes(this.u8()).readDoubleLE();
      case 0x6a:
        return this.#decimal();
      default:
        throw new Error(`the type ${token} is unexpected`);
    }
  }

  #text(): string | null {
    const max = this.u16();
    if (!this.bytes(5).equals(Buffer.from([0x09, 0x04, 0xd0, 0x00, 0x34])))
      throw new Error('another collation');
    if (max !== 0xffff) {
      const length = this.u16();
      return length === 0xffff ? null : this.bytes(length).toString('utf16le');
    }
    const total = Number(this.bytes(8).readBigUInt64LE());
    const parts: Buffer[] = [];
    for (;;) {
      const length = this.bytes(4).readUInt32LE();
      if (length === 0) break;
      parts.push(this.bytes(length));
    }
    const text = Buffer.concat(parts);
    if (text.length !== total) throw new Error('the length is wrong');
    return text.toString('utf16le');
  }

  #integer(): number | bigint {
    this.u8();
    const length = this.u8();
    return length === 4 ? this.bytes(4).readInt32LE() : this.bytes(8).readBigInt64LE();
  }

  #decimal(): string {
    this.u8();
    const precision = this.u8();
    const scale = this.u8();
    this.u8();
    const sign = this.u8() === 1 ? '' : '-';
    let size = 0n;
    for (const [index, byte] of this.bytes(16).entries()) size |= BigInt(byte) << BigInt(8 * index);
    const digits = String(size).padStart(scale + 1, '0');
    if (digits.replace(/^0+/, '').length > precision) throw new Error('the precision is too small');
    return `${sign}${digits.slice(0, digits.length - scale)}.${digits.slice(digits.length - scale)}`;
  }
}
