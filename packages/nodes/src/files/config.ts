import type { JsonValue, TableForm } from '@millrace/engine';
import { extensionOf } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { Type } from 'typebox';

/** The value of a file, which is checked when the node runs. */
export const fileProperty = (description: string, marks: { readonly [name: string]: unknown } = {}) =>
  Type.Unsafe<JsonValue>({ title: 'File', description, default: '', 'x-filled': true, ...marks });

/** How long work on a file may take. */
export const fileTimeoutProperty = Type.Integer({
  title: 'Time limit',
  description: 'In milliseconds. Work that takes longer is stopped with document_timeout.',
  minimum: 1,
  maximum: 600_000,
  default: 120_000,
});

/** For the node as a whole: waiting for a thread comes before the time limit of the work. */
export const FILE_NODE_TIMEOUT_MS = 900_000;

const DELIMITERS = { auto: '', comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;
export type DelimiterName = keyof typeof DELIMITERS;

/** @param automatic the label of `auto`; absent: there is none */
export const delimiterProperty = (description: string, when: object, automatic?: string) => {
  const labels = { comma: 'Comma', semicolon: 'Semicolon', tab: 'Tab', pipe: 'Vertical bar' };
  return Type.Unsafe<DelimiterName>({
    type: 'string',
    enum: automatic === undefined ? Object.keys(labels) : ['auto', ...Object.keys(labels)],
    title: 'Delimiter',
    description,
    default: automatic === undefined ? 'comma' : 'auto',
    'x-labels': automatic === undefined ? labels : { auto: automatic, ...labels },
    'x-when': when,
  });
};

export function delimiterOf(name: DelimiterName): string {
  return DELIMITERS[name];
}

export const encodingProperty = (when: object) =>
  choice(
    'Encoding',
    'Automatic: UTF-8 or UTF-16 if the file is that, otherwise Shift_JIS.',
    {
      auto: 'Automatic',
      'utf-8': 'UTF-8',
      'utf-16le': 'UTF-16',
      shift_jis: 'Shift_JIS',
      'euc-jp': 'EUC-JP',
      'windows-1252': 'Windows-1252',
    },
    { default: 'auto', 'x-when': when },
  );

export type ReadFormat = 'text' | 'json' | 'jsonl' | 'csv' | 'xlsx' | 'ical';

/** The format that a file's name or type stands for; text if neither does. */
export function formatOf({ name, type }: { readonly name: string; readonly type: string }): ReadFormat {
  switch (extensionOf(name)) {
    case 'csv':
    case 'tsv':
      return 'csv';
    case 'xlsx':
    case 'xlsm':
      return 'xlsx';
    case 'json':
      return 'json';
    case 'jsonl':
    case 'ndjson':
      return 'jsonl';
    case 'ics':
      return 'ical';
    default:
      return formatOfType(type);
  }
}

function formatOfType(type: string): ReadFormat {
  if (/^text\/(?:csv|tab-separated-values)\b/.test(type)) return 'csv';
  if (/spreadsheetml\.sheet|ms-excel/.test(type)) return 'xlsx';
  if (/ndjson|jsonl/.test(type)) return 'jsonl';
  if (/^text\/calendar\b/.test(type)) return 'ical';
  return /^application\/(?:[\w.-]+\+)?json\b/.test(type) ? 'json' : 'text';
}

/** How a file of a format contains rows, unless settings say more. */
export function usualForm(format: ReadFormat): TableForm | null {
  switch (format) {
    case 'csv':
      return { format, encoding: 'auto', delimiter: '', header: true };
    case 'xlsx':
      return { format, sheet: '', header: true };
    case 'jsonl':
    case 'ical':
      return { format, encoding: 'auto' };
    default:
      return null;
  }
}
