import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { JsonValue } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { parseJsonText } from '@millrace/http/body';
import {
  type ImportedWorkflow,
  type ImportResult,
  importWorkflow,
  type Outcome,
  type Product,
  problemsOf,
  workflowsOf,
} from '@millrace/importer';
import { inEnglish } from '@millrace/messages/english';
import { registry } from '@millrace/nodes';
import { type Config, loadConfig } from '../settings/config.ts';
import { organisationOrAsk } from './ask.ts';
import { withDatabase } from './running-service.ts';
import { type CommandResult, RefusedError } from './shell.ts';
import { unreadable } from './unreadable.ts';
import { checkWorkflow } from './workflow-file.ts';
import { storeWorkflow } from './workflow-transfer.ts';

export interface ImportFilesOptions {
  readonly from?: Product | 'auto';
  readonly dryRun?: boolean;
  readonly org?: string;
  readonly json?: boolean;
}

/** A file that could be read, and what it becomes. */
interface ReadFile {
  readonly file: string;
  readonly result: ImportResult;
}

/** A file that couldn't be read. */
interface BrokenFile {
  readonly file: string;
  readonly error: { readonly code: string; readonly message: string };
}

/** Makes workflows from the files, and stores them as drafts unless it is a dry run. */
export async function importFiles(path: string, options: ImportFilesOptions): Promise<CommandResult> {
  const config = loadConfig();
  const files = await listFiles(path);
  if (options.dryRun === true) return present(await readAll(files, options, config), new Map());
  return withDatabase(async (db) => {
    const { id } = await organisationOrAsk(db, options);
    const read = await readAll(files, options, config);
    const ids = new Map<ImportedWorkflow, number>();
    const stored: (ReadFile | BrokenFile)[] = [];
    for (const one of read) stored.push('error' in one ? one : await store(one));
    return present(stored, ids);

    /** All workflows of a file, or none. */
    async function store(one: ReadFile): Promise<ReadFile | BrokenFile> {
      try {
        const files = workflowsOf(one.result).map((workflow) => ({
          workflow,
          file: checkWorkflow({ ...workflow }, config, registry),
        }));
        await db.forOrganisation(id, async (tx) => {
          for (const { workflow, file } of files) ids.set(workflow, (await storeWorkflow(tx, id, file)).id);
        });
        return one;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return { file: one.file, error: { code: error.code, message: error.message } };
      }
    }
  });
}

/** @throws RefusedError `file_unreadable` */
async function listFiles(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = await readdir(path, { recursive: true });
    const files = names.filter((name) => /\.(?:json|ya?ml)$/i.test(name)).toSorted();
    if (files.length > 0) return files.map((name) => join(path, name));
  } catch (error) {
    throw unreadable(error, 'file or folder');
  }
  throw new RefusedError('no_files', `There are no JSON or YAML files in ${path}`);
}

async function readAll(
  files: readonly string[],
  options: ImportFilesOptions,
  config: Config,
): Promise<readonly (ReadFile | BrokenFile)[]> {
  const read: (ReadFile | BrokenFile)[] = [];
  // One after the other: a folder may hold more than fits into memory at once.
  for (const file of files) read.push(await readOne(file, options, config));
  return read;
}

async function readOne(
  file: string,
  { from = 'auto' }: ImportFilesOptions,
  config: Config,
): Promise<ReadFile | BrokenFile> {
  const { flowBodyBytes, jsonDepth, nodes } = config.limits;
  try {
    const { size } = await stat(file);
    if (size > flowBodyBytes) {
      const message = `The file has ${size} bytes; at most ${flowBodyBytes} are allowed (MILLRACE_FLOW_BODY_LIMIT)`;
      return { file, error: { code: 'file_too_large', message } };
    }
    const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
    // What is only meant to be JSON gets the message that says where it is broken.
    const value: JsonValue = isYaml(file, text) ? text : parseJsonText(text, jsonDepth);
    const name = basename(file).replace(/\.(?:json|ya?ml)$/i, '');
    const limits = { nodes, depth: jsonDepth };
    const read = importWorkflow(value, { limits, name, ...(from === 'auto' ? {} : { product: from }) });
    if ('result' in read) return { file, result: read.result };
    return { file, error: { code: read.fault.code, message: inEnglish(read.fault.message) } };
  } catch (error) {
    if (error instanceof ApiError) return { file, error: { code: error.code, message: error.message } };
    const reason = error instanceof Error ? error.message : String(error);
    return { file, error: { code: 'file_unreadable', message: reason } };
  }
}

/** Whether a file is read as YAML; JSON that is named so is JSON. */
function isYaml(file: string, text: string): boolean {
  return !/\.json$/i.test(file) && !/^\s*[[{]/.test(text);
}

function present(
  read: readonly (ReadFile | BrokenFile)[],
  ids: ReadonlyMap<ImportedWorkflow, number>,
): CommandResult {
  const isFailure = read.some((one) => 'error' in one);
  return {
    json: read.map((one) => ('error' in one ? one : entryOf(one, ids))),
    text: read
      .map((one) => ('error' in one ? `${one.file}: ${one.error.message}` : inWords(one, ids)))
      .join('\n'),
    isFailure,
  };
}

function entryOf({ file, result }: ReadFile, ids: ReadonlyMap<ImportedWorkflow, number>) {
  const { outcomes, workflow, companions } = result;
  const withId = (made: ImportedWorkflow) => {
    const id = ids.get(made);
    return id === undefined ? made : { id, ...made };
  };
  return {
    file,
    product: result.product,
    name: result.name,
    workflow: workflow === null ? null : withId(workflow),
    companions: companions.map(withId),
    nodes: outcomes.length,
    mapped: ofKind(outcomes, 'mapped').map(({ node, type }) => ({ node, type })),
    approximated: ofKind(outcomes, 'approximated').map(({ node, type, what }) => ({
      node,
      type,
      what: what.map(inEnglish).join(' '),
    })),
    dropped: ofKind(outcomes, 'dropped').map(({ node, type, reason }) => ({
      node,
      type,
      reason: inEnglish(reason),
    })),
    problems: problemsOf(result).map((problem) => ({ ...problem, message: inEnglish(problem.message) })),
  };
}

function ofKind<Kind extends Outcome['kind']>(outcomes: readonly Outcome[], kind: Kind) {
  return outcomes.filter((outcome): outcome is Extract<Outcome, { kind: Kind }> => outcome.kind === kind);
}

function inWords({ file, result }: ReadFile, ids: ReadonlyMap<ImportedWorkflow, number>): string {
  const { outcomes } = result;
  const approximated = ofKind(outcomes, 'approximated');
  const dropped = ofKind(outcomes, 'dropped');
  const counts = `${outcomes.length} nodes: ${ofKind(outcomes, 'mapped').length} mapped, ${approximated.length} approximated, ${dropped.length} dropped`;
  const made = workflowsOf(result).map((workflow) => {
    const id = ids.get(workflow);
    return `\n  ${id === undefined ? 'Would become' : `Imported as workflow ${id},`} "${workflow.name}"`;
  });
  const lines = [
    ...approximated.map(({ node, what }) => `\n  ~ ${node}: ${what.map(inEnglish).join(' ')}`),
    ...dropped.map(({ node, reason }) => `\n  - ${node}: ${inEnglish(reason)}`),
  ];
  return `${file}: ${counts}.${made.join('')}${lines.join('')}`;
}
