import { useDebouncedValue } from '@mantine/hooks';
import type { ResponseBody } from '@millrace/admin-api';
import { type JsonObject, stringifyJson } from '@millrace/engine';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Import, type ImportFault, type NewWorkflow, readImports, readText } from './read-import.ts';

/** Files this many times larger than the service's limit aren't even read: no indentation accounts for that. */
const MAX_WHITE_SPACE_RATIO = 4;
/** More are for the command line: the page has all of them in memory. */
export const MAX_WORKFLOWS = 50;
/** What is read at once, in workflows of the largest size. */
const MAX_CONCURRENT = 20;
const TYPING_PAUSE_MS = 300;

type Refusal = ImportFault | { readonly kind: 'tooLarge' | 'notText' | 'tooMuch' };

/** What was pasted, or one of the chosen files. */
export interface GivenText {
  /** Empty for what was pasted. */
  readonly fileName: string;
  /** Or why it wasn't read. */
  readonly text: string | { readonly fault: Refusal };
}

/** What is to be imported; replaced as a whole. */
export interface Given {
  readonly id: number;
  readonly texts: readonly GivenText[];
}

export const NOTHING_GIVEN: Given = { id: 0, texts: [] };

/** Reads chosen files. @param limit bytes that the service accepts for a workflow */
export async function readFiles(files: readonly File[], limit: number): Promise<readonly GivenText[]> {
  const texts: GivenText[] = [];
  let bytes = 0;
  for (const file of files) {
    const fileName = file.name;
    bytes += file.size;
    if (file.size > limit * MAX_WHITE_SPACE_RATIO) {
      texts.push({ fileName, text: { fault: { kind: 'tooLarge' } } });
    } else if (bytes > limit * MAX_CONCURRENT) {
      texts.push({ fileName, text: { fault: { kind: 'tooMuch' } } });
    } else {
      const text = readText(await file.arrayBuffer());
      texts.push({ fileName, text: text ?? { fault: { kind: 'notText' } } });
    }
  }
  return texts;
}

/** One workflow that is to be imported, as it was given. */
export interface Source {
  readonly key: string;
  /** Empty for what was pasted. */
  readonly fileName: string;
  /** The name for what has none of its own; empty if nothing suggests one. */
  readonly name: string;
  readonly read: Exclude<Import, { readonly fault: ImportFault }> | { readonly fault: Refusal };
}

type Report = ResponseBody<'POST /orgs/:org/import'>['nodes'];
type Check = ResponseBody<'POST /orgs/:org/flow-checks'>;

/** A workflow that would be made. */
export interface CheckedWorkflow {
  readonly key: string;
  /** Undefined if it has no name of its own. */
  readonly name: string | undefined;
  readonly body: NewWorkflow & { readonly flow_data: JsonObject };
  readonly check: Check;
}

export interface Checked {
  readonly workflows: readonly CheckedWorkflow[];
  /** What becomes of the nodes of another product; null for workflows of this one. */
  readonly report: Report | null;
}

export interface CheckedSource extends Source {
  /** Undefined while unknown, and for what can't be imported. */
  readonly checked: Checked | undefined;
  /** Why the service didn't check it. */
  readonly error: Error | null;
  readonly refetch: () => void;
}

/** The workflows in what was given, and what the service says about them before anything is made. */
export function useSources(
  given: Given,
  limit: number,
): {
  readonly sources: readonly CheckedSource[];
  /** How many there are beyond those that are imported at once. */
  readonly leftOut: number;
} {
  const org = useOrg();
  const [settled] = useDebouncedValue(given, TYPING_PAUSE_MS);
  const all = useMemo(
    () => given.texts.flatMap((text, at) => sourcesIn(given.id, at, text, limit)),
    [given, limit],
  );
  const shown = all.slice(0, MAX_WORKFLOWS);
  const results = useQueries({
    queries: shown.map((source) => ({
      queryKey: ['import', org, source.key],
      queryFn: ({ signal }: { signal: AbortSignal }) => checkSource(org, source, signal),
      enabled: settled === given && !('fault' in source.read),
      // It is about what is in this dialog.
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 0,
    })),
  });
  return {
    leftOut: all.length - shown.length,
    sources: shown.map((source, at) => ({
      ...source,
      checked: results[at]?.data,
      error: results[at]?.error ?? null,
      refetch: () => void results[at]?.refetch(),
    })),
  };
}

function sourcesIn(id: number, at: number, { fileName, text }: GivenText, limit: number): readonly Source[] {
  const name = fileName.replace(/\.(json|ya?ml)$/i, '');
  if (typeof text !== 'string') return [{ key: `${id} ${at}`, fileName, name, read: text }];
  if (text.trim() === '') return [];
  return readImports(text).map((read, index) => {
    const isTooLarge = !('fault' in read) && new Blob([stringifyJson({ ...read })]).size > limit;
    return {
      key: `${id} ${at} ${index}`,
      fileName,
      name,
      read: isTooLarge ? { fault: { kind: 'tooLarge' } } : read,
    };
  });
}

async function checkSource(
  org: number,
  { key, name: givenName, read }: Source,
  signal: AbortSignal,
): Promise<Checked> {
  const params = { org };
  if ('fault' in read) return { workflows: [], report: null };
  const check = async (flow: JsonObject) =>
    call('POST /orgs/:org/flow-checks', { params, body: { flow_data: flow }, signal });
  if ('workflow' in read) {
    const { workflow } = read;
    const name = typeof workflow.name === 'string' ? workflow.name : undefined;
    const checked = { key, name, body: workflow, check: await check(workflow.flow_data) };
    return { workflows: [checked], report: null };
  }
  const body = { content: read.original, ...(givenName === '' ? {} : { name: givenName.slice(0, 255) }) };
  const imported = await call('POST /orgs/:org/import', { params, body, signal });
  const workflows = await Promise.all(
    imported.workflows.map(async ({ name, flow_data }, at) => {
      const flow = flow_data as JsonObject;
      return { key: `${key} ${at}`, name, body: { name, flow_data: flow }, check: await check(flow) };
    }),
  );
  return { workflows, report: imported.nodes };
}
