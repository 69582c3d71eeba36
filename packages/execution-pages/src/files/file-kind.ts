import { extensionOf, mediaTypeOf } from '@millrace/engine';

/** How a file can be looked at. */
export type FileKind = 'image' | 'pdf' | 'table' | 'json' | 'jsonl' | 'text';

const MIB = 1024 * 1024;
/** Files that are read as a whole, in bytes; of the others, the beginning is shown. */
const MOST = { image: 20 * MIB, pdf: 20 * MIB } as const;
/** Read of a file of which the beginning is shown. */
export const SHOWN_BYTES = { table: 256 * 1024, json: MIB, jsonl: 256 * 1024, text: 256 * 1024 } as const;

/** No SVG: it is a document that may contain scripts, and is shown as text. */
const IMAGES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
]);
const TEXTS =
  /^(?:text\/|message\/rfc822|application\/(?:[\w.-]+\+)?(?:xml|yaml|toml|javascript|sql|x-sh|x-yaml)$|image\/svg\+xml$)/;

/** The type without parameters: as the sender gave it, or by the name if that says nothing. */
export function essenceOf({ name, type }: { readonly name: string; readonly type: string }): string {
  const essence = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return essence === 'application/octet-stream' || essence === ''
    ? (mediaTypeOf(name)?.split(';', 1)[0] ?? essence)
    : essence;
}

/** Null: it can only be saved. */
export function kindOf(file: { readonly name: string; readonly type: string }): FileKind | null {
  const essence = essenceOf(file);
  const extension = extensionOf(file.name);
  if (IMAGES.has(essence)) return 'image';
  if (essence === 'application/pdf') return 'pdf';
  if (essence === 'text/csv' || essence === 'text/tab-separated-values') return 'table';
  if (/\b(?:jsonl|ndjson)\b/.test(essence) || extension === 'jsonl' || extension === 'ndjson') return 'jsonl';
  if (/^(?:application|text)\/(?:[\w.-]+\+)?json$/.test(essence)) return 'json';
  if (extension === 'csv' || extension === 'tsv') return 'table';
  return TEXTS.test(essence) ? 'text' : null;
}

export function tooLargeFor(kind: FileKind, size: number): boolean {
  return (kind === 'image' || kind === 'pdf') && size > MOST[kind];
}
