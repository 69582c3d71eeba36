import { describe, expect, it } from 'vitest';
import { readExif } from './image-exif.ts';
import { readHeader } from './image-header.ts';

type Entry = readonly [tag: number, type: number, values: readonly number[] | string];

const SIZES: { readonly [type: number]: number } = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8 };

/** A TIFF block as cameras write it: its image directory, and those of the photo and the place. */
function tiffOf(
  { image = [], photo = [], place = [] }: { readonly [name: string]: readonly Entry[] },
  isLittle = true,
): Buffer {
  const out = Buffer.alloc(2_000);
  const short = (value: number, at: number) =>
    isLittle ? out.writeUInt16LE(value, at) : out.writeUInt16BE(value, at);
  const long = (value: number, at: number) =>
    isLittle ? out.writeUInt32LE(value, at) : out.writeUInt32BE(value, at);
  out.write(isLittle ? 'II' : 'MM', 'latin1');
  short(42, 2);
  long(8, 4);
  let free = 1_000;
  const put = (type: number, values: Entry[2], at: number) => {
    if (typeof values === 'string') out.write(`${values}\0`, at, 'utf8');
    else
      values.forEach((value, index) => {
        if (type === 1) out.writeUInt8(value, at + index);
        else if (type === 3) short(value, at + index * 2);
        else long(value, at + index * 4);
      });
  };
  const write = (entries: readonly Entry[], start: number) => {
    short(entries.length, start);
    entries.forEach(([tag, type, values], index) => {
      const at = start + 2 + index * 12;
      const count = typeof values === 'string' ? Buffer.byteLength(values) + 1 : values.length;
      short(tag, at);
      short(type, at + 2);
      long(type === 5 ? count / 2 : count, at + 4);
      const size = type === 5 ? count * 4 : count * (SIZES[type] ?? 1);
      if (size <= 4) put(type, values, at + 8);
      else {
        long(free, at + 8);
        put(type, values, free);
        free += size;
      }
    });
  };
  const all: Entry[] = [...image, [0x8769, 4, [300]], [0x8825, 4, [600]]];
  write(all, 8);
  write(photo, 300);
  write(place, 600);
  return out.subarray(0, free);
}

const PHOTO = {
  image: [
    [0x010f, 2, 'Mill & Sons'],
    [0x0110, 2, 'M1'],
    [0x0112, 3, [6]],
    [0x0131, 2, '2.1'],
  ],
  photo: [
    [0x829a, 5, [1, 250]],
    [0x829d, 5, [28, 10]],
    [0x8827, 3, [200]],
    [0x9003, 2, '2026:06:21 12:34:56'],
    [0x9011, 2, '+02:00'],
    [0x920a, 5, [350, 10]],
    [0xa434, 2, '35mm F2.8'],
  ],
  place: [
    [1, 2, 'N'],
    [2, 5, [52, 1, 30, 1, 0, 1]],
    [3, 2, 'W'],
    [4, 5, [13, 1, 15, 1, 36, 1]],
    [5, 1, [1]],
    [6, 5, [125, 10]],
  ],
} satisfies { readonly [name: string]: readonly Entry[] };

const SAID = {
  orientation: 6,
  takenAt: '2026-06-21T12:34:56+02:00',
  cameraMake: 'Mill & Sons',
  cameraModel: 'M1',
  lens: '35mm F2.8',
  software: '2.1',
  exposureS: 0.004,
  fNumber: 2.8,
  iso: 200,
  focalLengthMm: 35,
  latitude: 52.5,
  longitude: -13.26,
  altitudeM: -12.5,
};

describe('what a photo says of itself', () => {
  it.each([true, false])('is read whatever the order of its bytes (little: %s)', (isLittle) => {
    expect(readExif(tiffOf(PHOTO, isLittle))).toEqual(SAID);
  });

  it('is null where it says nothing, or nothing that fits', () => {
    const nothing = Object.fromEntries(Object.keys(SAID).map((name) => [name, null]));
    expect(readExif(tiffOf({}))).toEqual(nothing);
    expect(
      readExif(
        tiffOf({
          image: [
            [0x0110, 2, '   '],
            [0x0112, 3, [9]],
            [0x0132, 2, '0000:00:00 00:00:00'],
            [0x010f, 3, [1]],
          ],
          photo: [[0x829a, 5, [1, 0]]],
          place: [
            [1, 2, 'N'],
            [2, 5, [91, 1, 0, 1, 0, 1]],
          ],
        }),
      ),
    ).toEqual(nothing);
  });

  it('has no offset if the camera knew none, and the time of the file if it says no other', () => {
    expect(readExif(tiffOf({ image: [[0x0132, 2, '2026:06:21 12:34:56']] }))?.takenAt).toBe(
      '2026-06-21T12:34:56',
    );
  });

  it.each([
    ['0000:00:00 00:00:00', null],
    ['2026:13:01 00:00:00', null],
    ['2026:01:00 00:00:00', null],
    ['2026:02:29 00:00:00', null],
    ['2024:02:29 23:59:59', '2024-02-29T23:59:59'],
    ['2026:01:01 24:00:00', null],
    ['2026:01:01 99:99:99', null],
  ])('has only times that there are: %s', (text, expected) => {
    expect(readExif(tiffOf({ image: [[0x0132, 2, text]] }))?.takenAt).toBe(expected);
  });

  it.each([
    ['+14:00', '+14:00'],
    ['-09:30', '-09:30'],
    ['+15:00', ''],
    ['+02:60', ''],
  ])('has only offsets that there are: %s', (offset, expected) => {
    const photo: readonly Entry[] = [
      [0x9003, 2, '2026:06:21 12:34:56'],
      [0x9011, 2, offset],
    ];
    expect(readExif(tiffOf({ photo }))?.takenAt).toBe(`2026-06-21T12:34:56${expected}`);
  });

  it('never leads out of its block, wherever it breaks off or is broken', () => {
    const whole = tiffOf(PHOTO);
    for (let length = 0; length < whole.length; length += 1) readExif(whole.subarray(0, length));
    for (let at = 0; at < whole.length; at += 1) {
      const broken = Buffer.from(whole);
      broken[at] = 0xff;
      readExif(broken);
    }
    expect(readExif(Buffer.from('neither'))).toBeNull();
  });
});

describe('an image with it', () => {
  const block = tiffOf(PHOTO);
  const chunk = (name: string, content: Buffer) => {
    const [size, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(content.length);
    return Buffer.concat([size, Buffer.from(name, 'latin1'), content, crc]);
  };
  const riff = (name: string, content: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(content.length);
    return Buffer.concat([Buffer.from(name, 'latin1'), size, content, Buffer.alloc(content.length % 2)]);
  };

  it('may be a JPEG', () => {
    const app1 = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), block]);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(app1.length + 2);
    const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 3, 0, 4, 1, 0, 0x11, 0]);
    const image = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe1]), size, app1, frame]);
    expect(readHeader(image)).toMatchObject({ width: 4, height: 3, orientation: 6, exif: SAID });
  });

  it('may be a PNG', () => {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(4, 0);
    header.writeUInt32BE(3, 4);
    const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
    const image = Buffer.concat([signature, chunk('IHDR', header), chunk('eXIf', block)]);
    // Decoders of PNG don't turn by it, so it says how it is stored.
    expect(readHeader(image)).toMatchObject({ width: 4, height: 3, orientation: 1, exif: SAID });
  });

  it('may be a WebP', () => {
    const header = Buffer.from([0x08, 0, 0, 0, 3, 0, 0, 2, 0, 0]);
    const content = Buffer.concat([
      Buffer.from('WEBP', 'latin1'),
      riff('VP8X', header),
      riff('VP8 ', Buffer.alloc(3)),
      riff('EXIF', block),
    ]);
    expect(readHeader(riff('RIFF', content))).toMatchObject({ width: 4, height: 3, exif: SAID });
  });
});
