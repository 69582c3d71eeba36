import { join } from 'node:path';
import { ensureArtefact } from '../../../tools/artefact.mjs';

let built: Promise<string> | undefined;

/**
 * The command's file for `node`, as a release contains it: one bundle starts with half of the processor time that the source files take.
 * It is built once for the current sources.
 */
export function builtCommand(): Promise<string> {
  built ??= ensureArtefact().then((folder) => join(folder, 'lib', 'millrace.js'));
  return built;
}
