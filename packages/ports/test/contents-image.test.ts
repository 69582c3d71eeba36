import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import {
  type ContentTask,
  type FileService,
  type JsonObject,
  type OpenFile,
  ServiceError,
} from '@millrace/engine';
import type { Caller } from '@millrace/runtime/node-services';
import { afterAll, describe, expect, it } from 'vitest';
import { decodeImage, encodeImage } from '../src/contents/image-codecs.ts';
import { type ImageFormat, readHeader } from '../src/contents/image-header.ts';
import type { Pixels } from '../src/contents/image-pixels.ts';
import { createContentService } from '../src/contents.ts';

const services = createContentService({ maxOutputBytes: 1024 * 1024 });
afterAll(() => services.close());

const caller = { organisationId: 1 } as Caller;
const NEVER = new AbortController().signal;
type Change = Extract<ContentTask, { kind: 'image_change' }>;
const CHANGE: Change = {
  kind: 'image_change',
  area: null,
  quarters: 0,
  width: 0,
  height: 0,
  fit: 'inside',
  format: null,
  quality: 90,
  name: '',
};

function fileOf(content: Buffer, size = content.length): OpenFile {
  return {
    name: 'photo.old.jpeg',
    type: 'image/jpeg',
    size,
    sha256: '',
    async *read(range = { start: 0, end: content.length - 1 }) {
      yield content.subarray(range.start, range.end + 1);
    },
  };
}

async function work(task: ContentTask, file: OpenFile, timeoutMs = 120_000) {
  let made = Buffer.alloc(0);
  const save: FileService['save'] = async ({ name, type }, source) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of source) pieces.push(piece);
    made = Buffer.concat(pieces);
    const sha256 = createHash('sha256').update(made).digest('hex');
    return { $file: 'made', name, type, size: made.length, sha256 };
  };
  const output = await services.service(caller).work({ task, inputs: [file], save, timeoutMs }, NEVER);
  return { output, made };
}

/** The red value of each pixel of what comes out. */
async function changed(
  content: Buffer,
  task: Partial<Change>,
): Promise<{ readonly rows: number[][]; readonly output: JsonObject; readonly made: Buffer }> {
  const { output, made } = await work({ ...CHANGE, ...task }, fileOf(content));
  const { format = 'png' } = readHeader(made) ?? {};
  const { data, width, height } = await decodeImage(format, new Uint8Array(made).buffer);
  const red = (x: number, y: number) => data[(y * width + x) * 4] ?? -1;
  const rows = Array.from({ length: height }, (_, y) => Array.from({ length: width }, (_x, x) => red(x, y)));
  return { rows, output, made };
}

/** An image with these red values. */
async function imageOf(rows: readonly (readonly number[])[], format: ImageFormat = 'png', opacity = 255) {
  const [width, height] = [rows[0]?.length ?? 0, rows.length];
  const data = new Uint8ClampedArray(rows.flat().flatMap((red) => [red, 0, 0, opacity]));
  return Buffer.from(await encodeImage(format, { data, width, height } satisfies Pixels, 90));
}
const ROWS = [
  [10, 20, 30],
  [40, 50, 60],
];

async function codeOf(working: Promise<unknown>): Promise<string> {
  const ended: unknown = await working.catch((error: unknown) => error);
  if (ended instanceof ServiceError) return ended.code;
  throw new Error('it did not fail as a service does', { cause: ended });
}

/** A JPEG image turned as EXIF says, with a comment. */
async function turnedJpeg(orientation: number): Promise<Buffer> {
  // Blocks of 16 pixels keep their colour through compression.
  const rows = Array.from({ length: 32 }, (_, y) =>
    Array.from({ length: 64 }, (_x, x) => (y < 16 && x < 32 ? 250 : 0)),
  );
  const plain = await imageOf(rows, 'jpeg');
  const tiff = Buffer.from('4d4d002a000000080001011200030000000100000000000000000000', 'hex');
  tiff.writeUInt16BE(orientation, 18);
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), tiff]);
  const head = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([plain.subarray(0, 2), head, exif, plain.subarray(2)]);
}

afterAll(() => {
  // Beside PDF.js, which defines `self`, the codecs take this process for a browser's, and leave an address that no URL can be resolved by.
  Reflect.deleteProperty(globalThis, 'location');
});

describe('an image', () => {
  it.each(['png', 'jpeg', 'webp'] as const)('of %s says its size and format', async (format) => {
    const { output } = await work({ kind: 'image_info' }, fileOf(await imageOf(ROWS, format)));
    expect(output).toMatchObject({ format, width: 3, height: 2, orientation: 1, has_metadata: false });
  });

  it('is cut out, turned and then scaled', async () => {
    const image = await imageOf(ROWS);
    expect((await changed(image, { area: { x: 1, y: 0, width: 2, height: 0 } })).rows).toEqual([
      [20, 30],
      [50, 60],
    ]);
    expect((await changed(image, { quarters: 1 })).rows).toEqual([
      [40, 10],
      [50, 20],
      [60, 30],
    ]);
    expect((await changed(image, { quarters: 2 })).rows).toEqual([
      [60, 50, 40],
      [30, 20, 10],
    ]);
    expect((await changed(image, { quarters: 3 })).rows).toEqual([
      [30, 60],
      [20, 50],
      [10, 40],
    ]);
    const both = await changed(image, { area: { x: 0, y: 0, width: 1, height: 2 }, quarters: 1 });
    expect(both.rows).toEqual([[40, 10]]);
  });

  it.each([
    [{ width: 30, height: 30 }, [30, 20]],
    [{ width: 30 }, [30, 20]],
    [{ height: 10 }, [15, 10]],
    [{ width: 90, height: 90 }, [60, 40]],
    [{ width: 30, height: 30, fit: 'cover' }, [30, 30]],
    [{ width: 30, height: 5, fit: 'stretch' }, [30, 5]],
    [{ width: 120, fit: 'stretch' }, [120, 80]],
  ] as const)('of 60 × 40 pixels with %j has %j', async (task, [width, height]) => {
    const image = await imageOf(Array.from({ length: 40 }, () => Array.from({ length: 60 }, () => 200)));
    const { output, rows } = await changed(image, task);
    expect([output.width, output.height, rows[0]?.length, rows.length]).toEqual([
      width,
      height,
      width,
      height,
    ]);
    expect(rows.flat().every((red) => Math.abs(red - 200) < 3)).toBe(true);
  });

  it('becomes another format, with a name to match; transparency becomes white in JPEG', async () => {
    const image = await imageOf([[0, 0]], 'png', 0);
    const jpeg = await changed(image, { format: 'jpeg' });
    expect(jpeg.output).toMatchObject({
      format: 'jpeg',
      file: { name: 'photo.old.jpeg', type: 'image/jpeg' },
    });
    expect(jpeg.rows.flat().every((red) => red > 250)).toBe(true);
    expect((await changed(image, { format: 'webp' })).output).toMatchObject({
      file: { name: 'photo.old.webp' },
    });
    expect((await changed(image, { name: 'small' })).output).toMatchObject({ file: { name: 'small.png' } });
  });

  it.each([
    [1, 'top left'],
    [2, 'top right'],
    [3, 'bottom right'],
    [4, 'bottom left'],
    [5, 'top left'],
    [6, 'top right'],
    [7, 'bottom right'],
    [8, 'bottom left'],
  ])('that EXIF turns (%i) is put upright, and loses its metadata', async (orientation, corner) => {
    const image = await turnedJpeg(orientation);
    const info = await work({ kind: 'image_info' }, fileOf(image));
    const [width, height] = orientation >= 5 ? [32, 64] : [64, 32];
    expect(info.output).toMatchObject({ orientation, has_metadata: true, width, height });
    const { rows, made } = await changed(image, {});
    expect([rows[0]?.length, rows.length]).toEqual([width, height]);
    const bright = rows.map((row) => row.map((red) => red > 125));
    const at = `${bright[4]?.some(Boolean) === true ? 'top' : 'bottom'} ${bright.some((row) => row[4] === true) ? 'left' : 'right'}`;
    expect(at).toBe(corner);
    expect(readHeader(made)).toMatchObject({ orientation: 1, hasMetadata: false });
  });
});

describe('an image that cannot be changed', () => {
  /** A PNG image that claims a size, with as many bytes as it likes. */
  function claiming(width: number, height: number, content = Buffer.alloc(100)): Buffer {
    const size = Buffer.from('0000000d4948445200000000000000000806000000', 'hex');
    size.writeUInt32BE(width, 8);
    size.writeUInt32BE(height, 12);
    const data = deflateSync(content);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      size,
      Buffer.alloc(4),
      length,
      Buffer.from('IDAT'),
      data,
      Buffer.alloc(4),
    ]);
  }

  it('claims more pixels than may be: it is not even decoded', async () => {
    expect(await codeOf(changed(claiming(65_535, 65_535), {}))).toBe('document_too_complex');
    expect(await codeOf(changed(claiming(0, 5), {}))).toBe('document_too_complex');
    const image = await imageOf(ROWS);
    const large = { width: 20_000, height: 20_000, fit: 'stretch' } as const;
    expect(await codeOf(changed(image, large))).toBe('document_too_complex');
  });

  it.each([
    ['is text', () => Buffer.from('no image')],
    ['is empty', () => Buffer.alloc(0)],
    ['breaks off', async () => (await imageOf(ROWS)).subarray(0, 40)],
    ['breaks off in JPEG', async () => (await imageOf(ROWS, 'jpeg')).subarray(0, 180)],
    ['has other bytes than it claims', () => claiming(100, 100)],
    ['breaks off in WebP', async () => (await imageOf(ROWS, 'webp')).subarray(0, 32)],
  ])('%s', async (_what, make) => {
    expect(await codeOf(changed(await make(), {}))).toBe('invalid_data');
  });

  it('is too large', async () => {
    expect(await codeOf(work(CHANGE, fileOf(Buffer.alloc(0), 33 * 1024 * 1024)))).toBe(
      'document_too_complex',
    );
  });

  it('has no such part', async () => {
    const image = await imageOf(ROWS);
    for (const area of [
      { x: 3, y: 0, width: 0, height: 0 },
      { x: 0, y: 1, width: 1, height: 2 },
    ]) {
      expect(await codeOf(changed(image, { area }))).toBe('invalid_config');
    }
  });

  it('takes too long', async () => {
    const stalled = { ...fileOf(await imageOf(ROWS)), read: () => new ReadableStream<Uint8Array>() };
    expect(await codeOf(work(CHANGE, stalled, 1))).toBe('document_timeout');
  });
});
