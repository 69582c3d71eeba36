import { randomUUID } from 'node:crypto';
import { type FileValue, fileIdOf, isJsonArray, type JsonObject, type JsonValue } from '@millrace/engine';
import type { ArrivingFile } from '@millrace/http/parts';
import type { KeepFile } from '../webhooks/body.ts';

/** The files of one submission: nothing is stored before all of it is known to be wanted. */
export interface HeldFiles {
  /** Takes one. @returns a value that stands for it meanwhile */
  hold(file: ArrivingFile): Promise<FileValue>;
  /** Stores those that the values have. @returns the values with them */
  keep(values: JsonObject, keepFile: KeepFile): Promise<JsonObject>;
}

export function createHeldFiles(): HeldFiles {
  const held = new Map<string, ArrivingFile>();

  async function kept(value: JsonValue, keepFile: KeepFile): Promise<JsonValue> {
    const file = held.get(fileIdOf(value) ?? '');
    return file === undefined ? value : keepFile(file);
  }

  return {
    async hold(file) {
      const id = randomUUID();
      held.set(id, file);
      return { $file: id, name: file.name, type: file.type, size: file.declaredBytes ?? 0, sha256: '' };
    },
    async keep(values, keepFile) {
      const stored: [string, JsonValue][] = [];
      for (const [name, value] of Object.entries(values)) {
        if (!isJsonArray(value)) {
          stored.push([name, await kept(value ?? null, keepFile)]);
          continue;
        }
        const items: JsonValue[] = [];
        for (const item of value) items.push(await kept(item, keepFile));
        stored.push([name, items]);
      }
      return Object.fromEntries(stored);
    },
  };
}
