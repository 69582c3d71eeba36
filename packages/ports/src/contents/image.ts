import { type ContentTask, type JsonObject, stringifyJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { DocumentFault } from '../documents/fault.ts';
import type { Host } from './host.ts';
import { decodeImage, encodeImage, resizeImage } from './image-codecs.ts';
import type { Exif } from './image-exif.ts';
import { type ImageFormat, type ImageHeader, readHeader } from './image-header.ts';
import { crop, flatten, type Pixels, turn, upright } from './image-pixels.ts';
import { readWhole } from './whole-file.ts';

/** The file is read as a whole. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Read or made: decoding takes some 20 bytes for each, outside of the heap that has a limit. */
const MAX_PIXELS = 20_000_000;
const TYPES = { jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp' } as const;
const EXTENSIONS = { jpeg: 'jpg', png: 'png', webp: 'webp' } as const;

type InfoTask = Extract<ContentTask, { kind: 'image_info' }>;
type ChangeTask = Extract<ContentTask, { kind: 'image_change' }>;

/** @throws DocumentFault invalid_data, document_too_complex, invalid_config */
export async function workOnImage(host: Host, task: InfoTask | ChangeTask): Promise<string> {
  const bytes = await readWhole(host, MAX_BYTES, message('ports.image_too_large', { max: MAX_BYTES }));
  const header = readHeader(Buffer.from(bytes.buffer));
  if (header === null) throw new DocumentFault('invalid_data', message('ports.image_unknown'));
  if (task.kind === 'image_info') return stringifyJson(infoOf(header, bytes.byteLength));
  // Before anything is decoded: a few bytes may claim any size.
  requirePixels(header);
  const decoded = await decodeImage(header.format, bytes.buffer).catch(broken);
  const { width, height } = decoded;
  if (width !== header.width || height !== header.height) return broken();
  const made = await change(upright(decoded, header.orientation), task);
  const format = task.format ?? header.format;
  if (format === 'jpeg') flatten(made);
  const content = await encodeImage(format, made, task.quality);
  const name = nameOf(task.name === '' ? (host.inputs[0]?.name ?? 'image') : task.name, format);
  const file = await host.save({ name, type: TYPES[format] }, inPieces(content));
  return stringifyJson({ file, format, width: made.width, height: made.height });
}

function infoOf(
  { format, width, height, orientation, hasMetadata, exif }: ImageHeader,
  size: number,
): JsonObject {
  const isSideways = orientation >= 5;
  return {
    format,
    width: isSideways ? height : width,
    height: isSideways ? width : height,
    size,
    orientation,
    has_metadata: hasMetadata,
    exif: exif === null ? null : shownExif(exif),
  };
}

/** The orientation is there in any case. */
function shownExif(exif: Exif): JsonObject {
  return {
    taken_at: exif.takenAt,
    camera_make: exif.cameraMake,
    camera_model: exif.cameraModel,
    lens: exif.lens,
    software: exif.software,
    exposure_s: exif.exposureS,
    f_number: exif.fNumber,
    iso: exif.iso,
    focal_length_mm: exif.focalLengthMm,
    latitude: exif.latitude,
    longitude: exif.longitude,
    altitude_m: exif.altitudeM,
  };
}

function requirePixels({ width, height }: { readonly width: number; readonly height: number }): void {
  if (width > 0 && height > 0 && width * height <= MAX_PIXELS) return;
  throw new DocumentFault(
    'document_too_complex',
    message('ports.image_too_many_pixels', { width, height, max: MAX_PIXELS / 1e6 }),
  );
}

function broken(): never {
  throw new DocumentFault('invalid_data', message('ports.image_broken'));
}

/** Cut out first, then turned, then scaled. */
async function change(image: Pixels, { area, quarters, width, height, fit }: ChangeTask): Promise<Pixels> {
  let changed = image;
  if (area !== null) {
    const cut = {
      ...area,
      width: area.width === 0 ? image.width - area.x : area.width,
      height: area.height === 0 ? image.height - area.y : area.height,
    };
    const isWithin =
      cut.width > 0 &&
      cut.height > 0 &&
      cut.x + cut.width <= image.width &&
      cut.y + cut.height <= image.height;
    if (!isWithin) {
      const { width: ownWidth, height: ownHeight } = image;
      throw new DocumentFault(
        'invalid_config',
        message('ports.image_area_outside', { width: ownWidth, height: ownHeight }),
      );
    }
    changed = crop(changed, cut);
  }
  changed = turn(changed, quarters);
  if (width === 0 && height === 0) return changed;
  return scale(changed, { width, height }, fit);
}

/** A width or height of 0 follows from the other. */
async function scale(
  image: Pixels,
  { width, height }: { readonly width: number; readonly height: number },
  fit: ChangeTask['fit'],
): Promise<Pixels> {
  const across = width === 0 ? height / image.height : width / image.width;
  const down = height === 0 ? across : height / image.height;
  const isOpen = width === 0 || height === 0;
  if (fit === 'stretch' && !isOpen) return resizeTo(image, { width, height });
  if (fit === 'cover' && !isOpen) {
    const factor = Math.max(across, down);
    const seen = {
      width: Math.min(image.width, Math.max(1, Math.round(width / factor))),
      height: Math.min(image.height, Math.max(1, Math.round(height / factor))),
    };
    const x = Math.floor((image.width - seen.width) / 2);
    const y = Math.floor((image.height - seen.height) / 2);
    return resizeTo(crop(image, { x, y, ...seen }), { width, height });
  }
  const factor = fit === 'inside' ? Math.min(across, down, 1) : Math.min(across, down);
  return resizeTo(image, {
    width: Math.max(1, Math.round(image.width * factor)),
    height: Math.max(1, Math.round(image.height * factor)),
  });
}

async function resizeTo(
  image: Pixels,
  target: { readonly width: number; readonly height: number },
): Promise<Pixels> {
  requirePixels(target);
  const isSame = target.width === image.width && target.height === image.height;
  return isSame ? image : resizeImage(image, target);
}

/** With the extension of the format, unless it has it. */
function nameOf(name: string, format: ImageFormat): string {
  const known = format === 'jpeg' ? /\.jpe?g$/i : new RegExp(`\\.${format}$`, 'i');
  return known.test(name) ? name : `${name.replace(/\.(?:jpe?g|png|webp)$/i, '')}.${EXTENSIONS[format]}`;
}

const PIECE_BYTES = 256 * 1024;

async function* inPieces(content: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.byteLength; at += PIECE_BYTES) yield content.subarray(at, at + PIECE_BYTES);
}
