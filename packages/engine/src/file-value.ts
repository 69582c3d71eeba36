import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/values/json';

/** A file in an input or output. Only the id counts; the other members are a copy for whoever reads the value. */
export type FileValue = JsonObject & {
  readonly $file: string;
  readonly name: string;
  /** Media type. */
  readonly type: string;
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
};

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text has the form of a file's id. */
export function isFileId(text: unknown): text is string {
  return typeof text === 'string' && ID.test(text);
}

/** The id of the file that a value says it is; undefined for any other value. */
export function fileIdOf(value: JsonValue | undefined): string | undefined {
  return isJsonObject(value) && isFileId(value.$file) ? value.$file : undefined;
}

/** A file in a larger value. */
export interface FoundFile {
  readonly id: string;
  /** The members and indexes that lead to it. */
  readonly path: readonly (string | number)[];
}

/** A value inside another one. Its path is a chain, because most values aren't files: a list for each would copy those above it. */
interface Place {
  readonly value: JsonValue;
  /** Its name or index in the value above it. */
  readonly step: string | number;
  readonly above: Place | null;
}

/** All files in a value. Each id once, where it first occurs. */
export function findFiles(value: JsonValue): FoundFile[] {
  const found = new Map<string, FoundFile>();
  // Not recursive: values may be nested as deeply as JSON allows.
  const open: Place[] = [{ value, step: '', above: null }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value: each } = place;
    const id = fileIdOf(each);
    if (id !== undefined) {
      if (!found.has(id)) found.set(id, { id, path: pathOf(place) });
    } else if (isJsonArray(each)) {
      for (let index = each.length - 1; index >= 0; index -= 1) {
        const item = each[index] ?? null;
        if (mayHoldFiles(item)) open.push({ value: item, step: index, above: place });
      }
    } else if (isJsonObject(each)) {
      for (const [name, member] of Object.entries(each).reverse()) {
        if (mayHoldFiles(member)) open.push({ value: member, step: name, above: place });
      }
    }
  }
  return [...found.values()];
}

function mayHoldFiles(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null;
}

function pathOf(place: Place): FoundFile['path'] {
  const path: (string | number)[] = [];
  for (let each = place; each.above !== null; each = each.above) path.push(each.step);
  return path.reverse();
}
