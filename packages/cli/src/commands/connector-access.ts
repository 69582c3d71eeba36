import { readFile, stat } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { checkOwnFile } from '@millrace/connectors/own-check';
import { MAX_FILE_BYTES } from '@millrace/connectors/own-file';
import { notFound } from '@millrace/errors/errors';
import { inEnglish } from '@millrace/messages/english';
import { registry } from '@millrace/nodes';
import {
  deleteConnector,
  listConnectors,
  readUpload,
  uploadConnector,
} from '@millrace/own-connectors/connectors';
import { isConnectorName } from '@millrace/own-connectors/names';
import { type RenewStep, renewWorkflows } from '@millrace/service/workflows/renew';
import { organisationOrAsk } from './ask.ts';
import { withDatabase } from './running-service.ts';
import { countOf, OPERATOR } from './shared.ts';
import { type CommandResult, RefusedError } from './shell.ts';
import { moment, table } from './table.ts';
import { unreadable } from './unreadable.ts';

interface OrgOption {
  readonly org?: string;
}

/** @throws RefusedError `file_unreadable`, `file_too_large` */
async function readSource(path: string): Promise<string> {
  try {
    if (path === '-') return await readAll(process.stdin);
    const { size } = await stat(path);
    if (size <= MAX_FILE_BYTES) return await readFile(path, 'utf8');
  } catch (error) {
    throw unreadable(error);
  }
  throw new RefusedError('file_too_large', `${path} is larger than ${MAX_FILE_BYTES} bytes.`);
}

/** `connectors upload --check` */
export async function checkFile(path: string): Promise<CommandResult> {
  const checked = checkOwnFile(await readSource(path));
  if (checked.kind === 'faulty') {
    const faults = checked.faults.map(({ pointer, message }) => ({ pointer, message: inEnglish(message) }));
    const lines = faults.map(({ pointer, message }) => `  ${pointer} ${message}`.trimEnd());
    return {
      json: { faults },
      text: `${path}: ${countOf(faults.length, 'fault')}\n${lines.join('\n')}`,
      isFailure: true,
    };
  }
  const { id, title, operations, triggers } = checked.facts;
  const counts = [
    countOf(operations, 'operation'),
    ...(triggers === 0 ? [] : [countOf(triggers, 'trigger')]),
  ];
  return { json: { id, faults: [] }, text: `${path}: ${title}, ${counts.join(', ')}. No faults.` };
}

/** `connectors upload` */
export async function uploadFile(path: string, options: OrgOption): Promise<CommandResult> {
  const source = await readSource(path);
  return withDatabase(async (db) => {
    const { id } = await organisationOrAsk(db, options);
    const file = await readUpload(source, id);
    const { name, revision, isNew } = await uploadConnector(db, id, file, OPERATOR);
    return {
      json: { name, revision, is_new: isNew },
      text: isNew
        ? `Uploaded ${name}, revision ${revision}.`
        : `${name} already has this file, as revision ${revision}.`,
    };
  });
}

/** `connectors list` */
export function listByCommand(options: OrgOption & { json?: boolean }): Promise<CommandResult> {
  return withDatabase(async (db) => {
    const { id, name: organisation } = await organisationOrAsk(db, options);
    const rows = await db.forOrganisation(id, (tx) => listConnectors(tx, id));
    const text = table(
      rows,
      [
        { title: 'ID', cell: (row) => row.name },
        { title: 'NAME', cell: (row) => row.title },
        { title: 'REVISION', align: 'right', cell: (row) => String(row.revision) },
        { title: 'UPLOADED', cell: (row) => moment(row.uploaded_at) },
        { title: 'WORKFLOWS', align: 'right', cell: (row) => String(row.workflows) },
        { title: 'OUTDATED', align: 'right', cell: (row) => String(row.outdated) },
      ],
      `"${organisation}" has no connectors of its own. Upload one: millrace connectors upload FILE`,
    );
    return { json: rows, text };
  });
}

/** `connectors update` */
export async function updateByCommand(connector: string, options: OrgOption): Promise<CommandResult> {
  requireName(connector);
  return withDatabase(async (db) => {
    const { id: organisationId } = await organisationOrAsk(db, options);
    const author = { organisationId, apiKeyId: null };
    const rows = await db.forOrganisation(organisationId, (tx) => listConnectors(tx, organisationId));
    const total = rows.find(({ name }) => name === connector)?.outdated ?? 0;
    const refused: RenewStep['refused'][number][] = [];
    let saved = 0;
    for (let after: number | null = 0; after !== null; ) {
      const step: RenewStep = await renewWorkflows({ db, registry }, author, connector, OPERATOR, after);
      saved += step.saved;
      refused.push(...step.refused);
      after = step.next;
      showProgress(saved + refused.length, total, after === null);
    }
    const left = refused.map(({ workflow: { id, name }, error }) => {
      const said = error.errors?.[0]?.message ?? error.explanation;
      return { id, name, code: error.code, message: inEnglish(said) };
    });
    const lines = left.map(({ id, name, message }) => `\n  ${id}, "${name}", stays as it is: ${message}`);
    return {
      json: { saved, refused: left },
      text: `${countOf(saved, 'workflow')} saved with the newest revision.${lines.join('')}`,
      isFailure: left.length > 0,
    };
  });
}

/** Rewrites one line on a terminal. */
function showProgress(seen: number, total: number, isOver: boolean): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(isOver ? '\r\u001b[K' : `\r${seen} of ${Math.max(seen, total)} workflows\u001b[K`);
}

/** `connectors remove` */
export async function removeByCommand(connector: string, options: OrgOption): Promise<CommandResult> {
  requireName(connector);
  return withDatabase(async (db) => {
    const { id } = await organisationOrAsk(db, options);
    await deleteConnector(db, id, connector, OPERATOR);
    return { json: { name: connector }, text: `Removed connector ${connector}.` };
  });
}

/** @throws ApiError `not_found` */
function requireName(connector: string): void {
  if (!isConnectorName(connector)) throw notFound('connector');
}
