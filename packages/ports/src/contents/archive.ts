import { Readable } from 'node:stream';
import {
  type ContentTask,
  type FileValue,
  type JsonObject,
  mediaTypeOf,
  stringifyJson,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Entry } from 'yauzl';
import { ZipFile } from 'yazl';
import { DocumentFault } from '../documents/fault.ts';
import type { Host } from './host.ts';
import { openArchive } from './zip-reader.ts';

type ArchiveTask = Extract<ContentTask, { kind: 'zip_make' | 'zip_list' | 'zip_extract' }>;

/** The same files make the same archive. */
const MTIME = new Date(1980, 0, 1);

/** @throws DocumentFault */
export async function workOnArchive(host: Host, task: ArchiveTask): Promise<string> {
  switch (task.kind) {
    case 'zip_make':
      return make(host, task.name);
    case 'zip_list':
      return list(host, task.limit);
    case 'zip_extract':
      return extract(host, task);
  }
}

async function make(host: Host, name: string): Promise<string> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error: Error) => output.destroy(error));
  const paths = distinctNames(host.inputs.map((input) => input.name));
  for (const [input, path] of paths.entries()) {
    const content = Readable.from(host.read(input), { objectMode: false });
    content.on('error', (error) => output.destroy(error));
    zip.addReadStream(content, path, {
      mtime: MTIME,
      forceDosTimestamp: true,
      size: host.inputs[input]?.size ?? 0,
    });
  }
  zip.end();
  const file = await host.save({ name, type: 'application/zip' }, output as AsyncIterable<Uint8Array>);
  return stringifyJson({ file, count: paths.length, paths });
}

/** Files of the same name get a number. */
function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((given) => {
    const [, stem = given, extension = ''] = /^(.+?)(\.[^.]*)?$/.exec(given) ?? [];
    let name = given;
    for (let number = 2; taken.has(name); number += 1) name = `${stem} (${number})${extension}`;
    taken.add(name);
    return name;
  });
}

async function list(host: Host, limit: number): Promise<string> {
  const { entries } = await openArchive(host, 0);
  const files = entries.filter(isFile);
  const shown = files.slice(0, limit).map((entry): JsonObject => {
    return { path: entry.fileName, size: entry.uncompressedSize, encrypted: entry.isEncrypted() };
  });
  return stringifyJson({ entries: shown, count: files.length, has_more: files.length > limit });
}

/** What an archive declares is checked before anything is decompressed, and then holds: see {@link openArchive}. */
async function extract(
  host: Host,
  { names, maxFiles, maxBytes }: Extract<ArchiveTask, { kind: 'zip_extract' }>,
): Promise<string> {
  const { entries, read } = await openArchive(host, 0);
  const isWanted = matcher(names);
  const wanted = entries.filter((entry) => isFile(entry) && isWanted(entry.fileName));
  if (wanted.length > maxFiles) {
    throw new DocumentFault(
      'document_too_complex',
      message('ports.zip_too_many_wanted', { count: wanted.length, max: maxFiles }),
    );
  }
  const size = wanted.reduce((sum, entry) => sum + entry.uncompressedSize, 0);
  if (size > maxBytes) {
    throw new DocumentFault(
      'document_too_complex',
      message('ports.zip_too_large_wanted', { size, max: maxBytes }),
    );
  }
  const files: FileValue[] = [];
  for (const entry of wanted) {
    const name = entry.fileName.slice(entry.fileName.lastIndexOf('/') + 1);
    const type = mediaTypeOf(name) ?? 'application/octet-stream';
    files.push(await host.save({ name, type }, read(entry)));
  }
  return stringifyJson({ files, paths: wanted.map((entry) => entry.fileName), count: files.length });
}

function isFile({ fileName }: Entry): boolean {
  return !fileName.endsWith('/');
}

/** Names with `*` for any characters; compared piece by piece, in linear time. */
function matcher(names: readonly string[]): (path: string) => boolean {
  if (names.length === 0) return () => true;
  const patterns = names.map((name) => name.split('*'));
  return (path) => patterns.some((pieces) => matches(path, pieces));
}

function matches(path: string, pieces: readonly string[]): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return path === first;
  if (!path.startsWith(first) || !path.endsWith(last)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = path.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return at <= path.length - last.length;
}
