/** What a photo says of itself, by EXIF 2.32; null for what it doesn't. */
export interface Exif {
  readonly orientation: number | null;
  /** ISO 8601, with the offset if the camera knew it. */
  readonly takenAt: string | null;
  readonly cameraMake: string | null;
  readonly cameraModel: string | null;
  readonly lens: string | null;
  readonly software: string | null;
  readonly exposureS: number | null;
  readonly fNumber: number | null;
  readonly iso: number | null;
  readonly focalLengthMm: number | null;
  /** Degrees: north and east are positive. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly altitudeM: number | null;
}

/** Values of a directory by their tags; its offsets count from the beginning of the block. */
class Directory {
  readonly #tiff: Buffer;
  readonly #isLittle: boolean;
  /** By tag, where its entry is. */
  readonly #entries = new Map<number, number>();

  constructor(tiff: Buffer, isLittle: boolean, start: number | null) {
    this.#tiff = tiff;
    this.#isLittle = isLittle;
    if (start === null || start + 2 > tiff.length) return;
    const count = this.#short(start);
    for (let entry = 0, at = start + 2; entry < count && at + 12 <= tiff.length; entry += 1, at += 12)
      this.#entries.set(this.#short(at), at);
  }

  /** Trimmed, without what no text has; null if nothing is left. */
  text(tag: number): string | null {
    const bytes = this.#bytes(tag, 2);
    if (bytes === null) return null;
    const [text = ''] = bytes.subarray(0, MAX_TEXT).toString('utf8').split('\0', 1);
    return text.replaceAll(/\p{Cc}/gu, '').trim() || null;
  }

  /** The first of its whole numbers. */
  whole(tag: number): number | null {
    const short = this.#bytes(tag, 3);
    if (short !== null) return this.#isLittle ? short.readUInt16LE(0) : short.readUInt16BE(0);
    const long = this.#bytes(tag, 4);
    return long === null ? null : this.#longIn(long, 0);
  }

  byte(tag: number): number | null {
    return this.#bytes(tag, 1)?.[0] ?? null;
  }

  /** Its fractions; null unless there are so many, each with a denominator. */
  fractions(tag: number, count: number): readonly number[] | null {
    const bytes = this.#bytes(tag, 5);
    if (bytes === null || bytes.length < count * 8) return null;
    const values = Array.from({ length: count }, (_, index) => {
      const [top, bottom] = [this.#longIn(bytes, index * 8), this.#longIn(bytes, index * 8 + 4)];
      return bottom === 0 ? null : top / bottom;
    });
    return values.includes(null) ? null : (values as readonly number[]);
  }

  /** The content of an entry, if it has this type and lies within the block. */
  #bytes(tag: number, type: number): Buffer | null {
    const entry = this.#entries.get(tag);
    if (entry === undefined || this.#short(entry + 2) !== type) return null;
    const length = this.#longIn(this.#tiff, entry + 4) * (SIZES[type] ?? 0);
    const at = length <= 4 ? entry + 8 : this.#longIn(this.#tiff, entry + 8);
    return length === 0 || at + length > this.#tiff.length ? null : this.#tiff.subarray(at, at + length);
  }

  #short(at: number): number {
    return this.#isLittle ? this.#tiff.readUInt16LE(at) : this.#tiff.readUInt16BE(at);
  }

  #longIn(bytes: Buffer, at: number): number {
    return this.#isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
  }
}

/** Bytes of one value by the types that are read: byte, text, short, long, fraction. */
const SIZES: { readonly [type: number]: number } = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8 };
/** Of a text that a camera writes. */
const MAX_TEXT = 200;

/** Of a TIFF block, as JPEG, PNG and WebP contain it; null if it is none. What doesn't fit the format is as if it weren't there. */
export function readExif(tiff: Buffer): Exif | null {
  const order = tiff.toString('latin1', 0, 2);
  if ((order !== 'II' && order !== 'MM') || tiff.length < 8) return null;
  const isLittle = order === 'II';
  const image = new Directory(tiff, isLittle, isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4));
  const photo = new Directory(tiff, isLittle, image.whole(0x8769));
  const place = new Directory(tiff, isLittle, image.whole(0x8825));
  const orientation = image.whole(0x0112);
  return {
    orientation: orientation !== null && orientation >= 1 && orientation <= 8 ? orientation : null,
    takenAt: momentOf(photo.text(0x9003), photo.text(0x9011)) ?? momentOf(image.text(0x0132), null),
    cameraMake: image.text(0x010f),
    cameraModel: image.text(0x0110),
    lens: photo.text(0xa434),
    software: image.text(0x0131),
    exposureS: one(photo, 0x829a),
    fNumber: one(photo, 0x829d),
    iso: photo.whole(0x8827),
    focalLengthMm: one(photo, 0x920a),
    latitude: degrees(place.fractions(2, 3), place.text(1), 'S', 90),
    longitude: degrees(place.fractions(4, 3), place.text(3), 'W', 180),
    altitudeM: altitudeOf(place),
  };
}

function one(directory: Directory, tag: number): number | null {
  return directory.fractions(tag, 1)?.[0] ?? null;
}

const MOMENT = /^(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)$/;
/** As far as places are from UTC: 14 hours at most. */
const OFFSET = /^[+-](?:0\d|1[0-4]):[0-5]\d$/;

/** EXIF writes colons between the parts of a date; cameras whose clock isn't set write zeros. */
function momentOf(text: string | null, offset: string | null): string | null {
  const [, year, month, day, time] = MOMENT.exec(text ?? '') ?? [];
  const moment = `${year}-${month}-${day}T${time}`;
  if (!isMoment(moment)) return null;
  return `${moment}${offset !== null && OFFSET.test(offset) ? offset : ''}`;
}

/** Whether the calendar has this day, and the day this second. */
function isMoment(moment: string): boolean {
  const date = new Date(`${moment}Z`);
  return !Number.isNaN(date.valueOf()) && date.toISOString().startsWith(moment);
}

function degrees(
  parts: readonly number[] | null,
  side: string | null,
  negative: string,
  most: number,
): number | null {
  if (parts === null || side === null) return null;
  const [whole = 0, minutes = 0, seconds = 0] = parts;
  // Some ten centimetres; more digits are none that a receiver knows.
  const value = Math.round((whole + minutes / 60 + seconds / 3_600) * 1e6) / 1e6;
  if (value > most) return null;
  return side === negative && value !== 0 ? -value : value;
}

function altitudeOf(place: Directory): number | null {
  const height = one(place, 6);
  if (height === null || height === 0) return height;
  return place.byte(5) === 1 ? -height : height;
}
