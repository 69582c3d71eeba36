import { RefusedError } from './shell.ts';

/** A file that can't be read, with what the system says. @param what "file of fields", or whatever it is */
export function unreadable(error: unknown, what = 'file'): RefusedError {
  const reason = error instanceof Error ? error.message : String(error);
  return new RefusedError('file_unreadable', `Couldn't read the ${what}: ${reason}`);
}
