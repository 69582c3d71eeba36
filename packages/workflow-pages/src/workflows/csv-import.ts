import type { ResponseBody } from '@millrace/admin-api';
import { type InputProperty, inputOfRow, type JsonObject, stringifyJson } from '@millrace/engine';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { type Said, translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import Papa from 'papaparse';
import { useRef, useState } from 'react';
import { readCsvRows } from './csv-rows.ts';

/** Rows and bytes of one request: small enough to show progress, large enough to be few. */
const CHUNK = { rows: 500, bytes: 256 * 1024 };
/** How often a request is repeated that the service couldn't take at the moment. */
const MAX_RETRIES = 30;
const RETRY_MS = 2_000;
/** Executions and refused rows that are shown. */
export const MAX_SHOWN = 50;

/** A file and what its columns are. */
export interface CsvSource {
  readonly file: File;
  readonly encoding: string;
  /** For each column; null: ignored. */
  readonly columns: readonly (InputProperty | null)[];
}

export interface StartedRow {
  readonly row: number;
  readonly executionId: number;
}

/** How far an import has come. Rows are counted from 1, without the header. */
export interface ImportRun {
  /** 0 to 100, by the bytes of the file. */
  readonly percent: number;
  readonly started: number;
  /** The first ones. */
  readonly executions: readonly StartedRow[];
  /** Refused rows, with the reason. */
  readonly refused: ReadonlyMap<number, string>;
  readonly state: 'running' | 'stopped' | 'broken' | 'done';
  /** Why it broke off. */
  readonly reason: string | null;
}

interface Progress {
  /** The last row whose result is known. */
  done: number;
  started: number;
  percent: number;
  readonly executions: StartedRow[];
  readonly refused: Map<number, string>;
}

type Rows = ResponseBody<'POST /orgs/:org/workflows/:id/import'>['rows'];

/** Starts the rows of a file in chunks. `begin` also continues after a stop or an error: no row is started twice. */
export function useCsvImport(workflowId: number, source: CsvSource | null) {
  const org = useOrg();
  const [run, setRun] = useState<ImportRun | null>(null);
  const [importId] = useState(() => crypto.randomUUID());
  const isStopped = useRef(false);
  const progress = useRef<Progress>({ done: 0, started: 0, percent: 0, executions: [], refused: new Map() });

  function report(state: ImportRun['state'], reason: string | null = null): void {
    const { refused, executions, ...counts } = progress.current;
    setRun({ ...counts, executions: [...executions], refused: new Map(refused), state, reason });
  }

  function note(firstRow: number, rows: Rows, percent: number): void {
    const now = progress.current;
    for (const [index, { execution_id: executionId, errors }] of rows.entries()) {
      const row = firstRow + index;
      if (executionId === null) now.refused.set(row, reasonOf(errors));
      else now.started += 1;
      if (executionId !== null && now.executions.length < MAX_SHOWN)
        now.executions.push({ row, executionId });
    }
    now.done = firstRow + rows.length - 1;
    now.percent = percent;
    report('running');
  }

  async function send(firstRow: number, inputs: readonly JsonObject[]): Promise<Rows> {
    const params = { org, id: workflowId };
    const body = { import_id: importId, first_row: firstRow, inputs: [...inputs] };
    for (let retries = 0; ; retries += 1) {
      try {
        return (await call('POST /orgs/:org/workflows/:id/import', { params, body })).rows;
      } catch (error) {
        if (error instanceof ApiProblem && isAboutRow(error) && inputs.length === 1)
          return [{ execution_id: null, errors: [{ field: '', message: error.message } as never] }];
        if (error instanceof ApiProblem && isAboutRow(error)) return sendHalves(firstRow, inputs);
        if (isStopped.current || retries === MAX_RETRIES || !isTemporary(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async function sendHalves(firstRow: number, inputs: readonly JsonObject[]): Promise<Rows> {
    const middle = inputs.length >> 1;
    const first = await send(firstRow, inputs.slice(0, middle));
    return [...first, ...(await send(firstRow + middle, inputs.slice(middle)))];
  }

  async function sendAll({ file, encoding, columns }: CsvSource): Promise<void> {
    let chunk: JsonObject[] = [];
    let bytes = 0;
    let row = 0;
    for await (const { cells, readBytes } of withoutHeader(file, encoding)) {
      row += 1;
      if (row <= progress.current.done) continue;
      const input = inputOfRow(cells, columns);
      chunk.push(input);
      bytes += stringifyJson(input).length;
      if (chunk.length < CHUNK.rows && bytes < CHUNK.bytes) continue;
      const firstRow = row - chunk.length + 1;
      note(firstRow, await send(firstRow, chunk), (readBytes / file.size) * 100);
      if (isStopped.current) return;
      [chunk, bytes] = [[], 0];
    }
    const firstRow = row - chunk.length + 1;
    if (chunk.length > 0) note(firstRow, await send(firstRow, chunk), 100);
  }

  async function begin(): Promise<void> {
    if (source === null) return;
    isStopped.current = false;
    report('running');
    try {
      await sendAll(source);
      report(isStopped.current ? 'stopped' : 'done');
    } catch (error) {
      report('broken', error instanceof Error ? error.message : String(error));
    }
  }

  return {
    run,
    begin: () => void begin(),
    stop: () => {
      isStopped.current = true;
    },
  };
}

async function* withoutHeader(file: File, encoding: string) {
  let isHeader = true;
  for await (const row of readCsvRows(file, encoding)) {
    if (!isHeader) yield row;
    isHeader = false;
  }
}

/** One of the rows is too large, or has what can't be stored. */
function isAboutRow({ status }: ApiProblem): boolean {
  return status === 413 || status === 422 || status === 400;
}

/** The service is unreachable, overloaded, or has too much waiting. */
function isTemporary(error: unknown): boolean {
  return !(error instanceof ApiProblem) || error.status === 429 || error.status >= 500;
}

function reasonOf(errors: readonly (Said & { readonly field: string })[]): string {
  return errors
    .map((error) => [error.field, translateMessage(error)].filter((part) => part !== '').join(': '))
    .join('; ');
}

/** The refused rows as a CSV file with the reasons in a last column. Reads the file again instead of holding its rows. */
export async function refusedRowsFile(
  { file, encoding }: Pick<CsvSource, 'file' | 'encoding'>,
  refused: ReadonlyMap<number, string>,
  reasonHeader: string,
): Promise<Blob> {
  // The mark tells spreadsheets that it is UTF-8.
  const parts: string[] = ['\uFEFF'];
  let row = -1;
  for await (const { cells } of readCsvRows(file, encoding)) {
    row += 1;
    const reason = row === 0 ? reasonHeader : refused.get(row);
    if (reason !== undefined)
      parts.push(Papa.unparse([[...cells, reason]], { escapeFormulae: true }), '\r\n');
  }
  return new Blob(parts, { type: 'text/csv' });
}
