import { type ContentTask, type FileValue, stringifyJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { DocumentFault } from '../documents/fault.ts';
import type { Host } from './host.ts';
import { openRows, type TableRows } from './rows.ts';

type ReadRows = Extract<ContentTask, { kind: 'read_rows' }>;
type SplitRows = Extract<ContentTask, { kind: 'split_rows' }>;

/** More would be a list of files that no loop gets through. */
const MAX_FILES = 1_000;

/**
 * Some rows of a file, as JSON text.
 * @throws DocumentFault document_output_too_large as soon as they take more than that
 */
export async function readRows(
  host: Host,
  { form, skip, limit }: ReadRows,
  maxBytes: number,
): Promise<string> {
  const table = await openRows(host, 0, form);
  const found: string[] = [];
  let bytes = 0;
  let index = 0;
  let hasMore = false;
  for await (const batch of table.rows) {
    for (const row of batch) {
      index += 1;
      if (index <= skip) continue;
      hasMore = found.length === limit;
      if (hasMore) break;
      found.push(row);
      bytes += Buffer.byteLength(row) + 1;
    }
    if (bytes > maxBytes) {
      throw new DocumentFault(
        'document_output_too_large',
        message('ports.table_too_large', { rows: found.length, max: maxBytes }),
      );
    }
    if (hasMore) break;
  }
  const about = stringifyJson({ ...describe(table, form.format), count: found.length, has_more: hasMore });
  return `${about.slice(0, -1)},"rows":[${found.join(',')}]}`;
}

/** The rows of a file as further files of JSON lines. */
export async function splitRows(host: Host, { form, rowsPerFile, name }: SplitRows): Promise<string> {
  const table = await openRows(host, 0, form);
  const rows = inFlight(table.rows);
  const files: FileValue[] = [];
  let count = 0;
  async function* lines(): AsyncGenerator<Uint8Array> {
    for (let left = rowsPerFile; left > 0; ) {
      const part = await rows.take(left);
      if (part.length === 0) return;
      left -= part.length;
      count += part.length;
      yield Buffer.from(`${part.join('\n')}\n`);
    }
  }
  while (await rows.hasMore()) {
    if (files.length === MAX_FILES) {
      throw new DocumentFault(
        'invalid_config',
        message('ports.too_many_parts', { max: MAX_FILES, rows: rowsPerFile }),
      );
    }
    const number = String(files.length + 1).padStart(4, '0');
    files.push(await host.save({ name: `${name}-${number}.jsonl`, type: 'application/x-ndjson' }, lines()));
  }
  return stringifyJson({ ...describe(table, form.format), count, files });
}

function describe(
  { columns, sheet }: TableRows,
  format: string,
): { readonly [name: string]: string | string[] } {
  return {
    format,
    ...(columns === null ? {} : { columns: [...columns] }),
    ...(sheet === undefined ? {} : { sheet: sheet.name, sheets: [...sheet.all] }),
  };
}

/** Batches of any size, taken in parts of another. */
function inFlight(batches: AsyncGenerator<readonly string[]>): {
  hasMore(): Promise<boolean>;
  /** At least one row, unless there are no more. */
  take(most: number): Promise<readonly string[]>;
} {
  let rest: readonly string[] = [];
  const hasMore = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const { done, value } = await batches.next();
      if (done === true) return false;
      rest = value;
    }
    return true;
  };
  return {
    hasMore,
    async take(most) {
      await hasMore();
      const part = rest.slice(0, most);
      rest = rest.slice(most);
      return part;
    },
  };
}
