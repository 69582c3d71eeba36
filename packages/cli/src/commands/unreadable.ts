import { RefusedError } from './shell.ts';

/** The error for a file that can't be read. @param what the file is called, such as "workflow file" */
export function unreadable(error: unknown, what = 'file'): RefusedError {
  const reason = error instanceof Error ? error.message : String(error);
  return new RefusedError('file_unreadable', `Couldn't read the ${what}: ${reason}`);
}
