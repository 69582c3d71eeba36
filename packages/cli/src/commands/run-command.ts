import { buildProgram } from './program.ts';
import { printError } from './shell.ts';

/**
 * Runs one command in this process and prints its result.
 *
 * @param words the arguments after `millrace`
 * @returns the exit code
 */
export async function runCommand(words: readonly string[]): Promise<number> {
  const asJson = words.includes('--json');
  try {
    await buildProgram(asJson).parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    return printError(error, asJson);
  }
}
