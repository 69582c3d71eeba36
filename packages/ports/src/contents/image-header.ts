import { type Exif, readExif } from './image-exif.ts';

/** Formats that are read and written. */
export type ImageFormat = 'jpeg' | 'png' | 'webp';

/** What the beginning of an image says of it. */
export interface ImageHeader {
  readonly format: ImageFormat;
  /** As it is stored, before it is turned. */
  readonly width: number;
  readonly height: number;
  /** How it is turned and mirrored to be looked at, as in EXIF: 1 to 8. */
  readonly orientation: number;
  /** Whether it says where, when or with what it was made. */
  readonly hasMetadata: boolean;
  /** What it says of that; null if it doesn't in a way that is read. */
  readonly exif: Exif | null;
}

/** Null: it is none of the formats, or breaks off before its size. */
export function readHeader(bytes: Buffer): ImageHeader | null {
  try {
    if (bytes.readUInt16BE(0) === 0xffd8) return readJpeg(bytes);
    if (bytes.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n') return readPng(bytes);
    const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
    return isWebp ? readWebp(bytes) : null;
  } catch (error) {
    // It ends before what should be there.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Chunks with texts, EXIF or the time, by their names. */
const PNG_METADATA = new Set(['tEXt', 'zTXt', 'iTXt', 'eXIf', 'tIME']);

function readPng(bytes: Buffer): ImageHeader {
  const size = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  let hasMetadata = false;
  let exif: Exif | null = null;
  for (let at = 8; at + 8 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const name = bytes.toString('latin1', at + 4, at + 8);
    if (PNG_METADATA.has(name)) hasMetadata = true;
    if (name === 'eXIf') exif = readExif(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  }
  return { format: 'png', ...size, orientation: 1, hasMetadata, exif };
}

function readJpeg(bytes: Buffer): ImageHeader | null {
  let exif: Exif | null = null;
  let hasMetadata = false;
  for (let at = 2; ; ) {
    // Markers may be padded.
    while (bytes.readUInt8(at) === 0xff && bytes.readUInt8(at + 1) === 0xff) at += 1;
    if (bytes.readUInt8(at) !== 0xff) return null;
    const marker = bytes.readUInt8(at + 1);
    const length = bytes.readUInt16BE(at + 2);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) {
      const size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
      return { format: 'jpeg', ...size, orientation: exif?.orientation ?? 1, hasMetadata, exif };
    }
    // EXIF, XMP, IPTC and comments; not what says the colours.
    if (marker === 0xe1 || marker === 0xed || marker === 0xfe) hasMetadata = true;
    if (marker === 0xe1) exif = exifOf(bytes.subarray(at + 4, at + 2 + length)) ?? exif;
    if (length < 2) return null;
    at += 2 + length;
  }
}

/** Of a block that may as well be XMP. */
function exifOf(block: Buffer): Exif | null {
  return block.toString('latin1', 0, 6) === 'Exif\0\0' ? readExif(block.subarray(6)) : null;
}

function readWebp(bytes: Buffer): ImageHeader | null {
  const kind = bytes.toString('latin1', 12, 16);
  const made = (
    width: number,
    height: number,
    hasMetadata: boolean,
    exif: Exif | null = null,
  ): ImageHeader => ({
    ...{ format: 'webp', width, height, orientation: 1, hasMetadata, exif },
  });
  switch (kind) {
    case 'VP8 ':
      return made(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff, false);
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return made((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1, false);
    }
    case 'VP8X': {
      const flags = bytes.readUInt8(20);
      // EXIF and XMP.
      const exif = (flags & 0x08) === 0 ? null : exifInRiff(bytes);
      return made(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1, (flags & 0x0c) !== 0, exif);
    }
    default:
      return null;
  }
}

/** Chunks have an even size; some programs put `Exif` before the block, as JPEG does. */
function exifInRiff(bytes: Buffer): Exif | null {
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32LE(at + 4);
    if (bytes.toString('latin1', at, at + 4) === 'EXIF') {
      const block = bytes.subarray(at + 8, at + 8 + size);
      return exifOf(block) ?? readExif(block);
    }
    at += 8 + size + (size % 2);
  }
  return null;
}
