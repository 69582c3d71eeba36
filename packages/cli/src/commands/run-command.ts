import { buildProgram } from './program.ts';
import { printError } from './shell.ts';

/**
 * Carries out one command of this process and prints what it answers.
 *
 * @param words what stands after `millrace`
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
