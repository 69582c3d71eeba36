import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { compile, type WasmModule } from '../code/wasm.ts';
import type { ImageFormat } from './image-header.ts';
import type { Pixels } from './image-pixels.ts';

const JPEG_DECODER = import.meta.resolve('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm');
const JPEG_ENCODER = import.meta.resolve('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm');
const PNG_CODEC = import.meta.resolve('@jsquash/png/codec/pkg/squoosh_png_bg.wasm');
const WEBP_DECODER = import.meta.resolve('@jsquash/webp/codec/dec/webp_dec.wasm');
const WEBP_ENCODER = import.meta.resolve('@jsquash/webp/codec/enc/webp_enc_simd.wasm');
const RESIZER = import.meta.resolve('@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm');
/** Lanczos, the sharpest. */
const FILTER = 3;

/** Browsers' own class, which the codecs make. */
class PlainImage {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;

  constructor(data: Uint8ClampedArray, width: number, height: number) {
    this.data = data;
    this.width = width;
    this.height = height;
  }
}

/** The codecs, whose own types are those of browsers. */
interface Decoder {
  init(module: WasmModule, options?: typeof SILENT): Promise<unknown>;
  default(bytes: ArrayBuffer): Promise<PlainImage>;
}
interface Encoder {
  init(module: WasmModule, options?: typeof SILENT): Promise<unknown>;
  default(image: Pixels, options?: { readonly quality: number }): Promise<ArrayBuffer>;
}

/** What a codec has to say of a broken image would be printed. */
const SILENT = { print() {}, printErr() {} };

async function compiled(address: string): Promise<WasmModule> {
  return compile(new Uint8Array(await readFile(fileURLToPath(address))));
}

/** @throws whatever a codec throws for a broken image */
export async function decodeImage(format: ImageFormat, bytes: ArrayBuffer): Promise<Pixels> {
  const known: { [name: string]: unknown } = globalThis;
  known.ImageData ??= PlainImage;
  const { data, width, height } = await (await decoderOf(format)).default(bytes);
  return { data: new Uint8ClampedArray(data), width, height };
}

/** Each image gets an instance of its own: a codec that trapped can't be used again. */
async function decoderOf(format: ImageFormat): Promise<Decoder> {
  let decoder: Decoder;
  switch (format) {
    case 'jpeg':
      decoder = await import('@jsquash/jpeg/decode.js');
      await decoder.init(await compiled(JPEG_DECODER), SILENT);
      return decoder;
    case 'png':
      decoder = await import('@jsquash/png/decode.js');
      await decoder.init(await compiled(PNG_CODEC));
      return decoder;
    case 'webp':
      decoder = await import('@jsquash/webp/decode.js');
      await decoder.init(await compiled(WEBP_DECODER), SILENT);
      return decoder;
  }
}

/** @param quality 1 to 100; of no meaning for PNG */
export async function encodeImage(
  format: ImageFormat,
  image: Pixels,
  quality: number,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await encoderOf(format)).default(image, { quality }));
}

async function encoderOf(format: ImageFormat): Promise<Encoder> {
  let encoder: Encoder;
  switch (format) {
    case 'jpeg':
      encoder = await import('@jsquash/jpeg/encode.js');
      await encoder.init(await compiled(JPEG_ENCODER), SILENT);
      return encoder;
    case 'png': {
      // Its encoder also takes images of 16 bits, if it is told so.
      const { init, default: encode } = await import('@jsquash/png/encode.js');
      await init(await compiled(PNG_CODEC));
      return { init, default: (image) => encode(image) };
    }
    case 'webp':
      encoder = await import('@jsquash/webp/encode.js');
      await encoder.init(await compiled(WEBP_ENCODER), SILENT);
      return encoder;
  }
}

interface Resizer {
  default(module: WasmModule): Promise<unknown>;
  resize(
    ...given: readonly [
      bytes: Uint8Array,
      width: number,
      height: number,
      toWidth: number,
      toHeight: number,
      filter: number,
      premultiplies: boolean,
      isLinear: boolean,
    ]
  ): Uint8ClampedArray;
}

export async function resizeImage(
  { data, width, height }: Pixels,
  target: { readonly width: number; readonly height: number },
): Promise<Pixels> {
  const resizer: Resizer = await import('@jsquash/resize/lib/resize/pkg/squoosh_resize.js');
  await resizer.default(await compiled(RESIZER));
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const resized = resizer.resize(bytes, width, height, target.width, target.height, FILTER, true, true);
  return { data: new Uint8ClampedArray(resized), ...target };
}
