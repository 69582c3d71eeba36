import { extname } from 'node:path';
import { UsageError } from './shell.ts';

/** How a file holds rows: a header and lines of cells, one JSON object per line, or a JSON list of objects. */
export const FORMATS = ['csv', 'jsonl', 'json'] as const;
export type RowFormat = (typeof FORMATS)[number];

const BY_EXTENSION: { readonly [extension: string]: RowFormat } = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
};

/** @throws UsageError `unknown_format` if the name doesn't say */
export function formatOf(path: string): RowFormat {
  const format = BY_EXTENSION[extname(path).toLowerCase()];
  if (format !== undefined) return format;
  const what =
    path === '-'
      ? 'Standard input has no name'
      : `The name of "${path}" doesn't end in .csv, .jsonl or .json`;
  throw new UsageError('unknown_format', `${what}. Give the format: --format ${FORMATS.join(' | ')}.`);
}
