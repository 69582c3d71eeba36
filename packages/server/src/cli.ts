import { buildProgram } from './cli/program.ts';
import { printError } from './cli/shell.ts';

// The process is not ended here: it ends by itself once everything written has been taken and closed.
// Whoever reads has seen enough (`| head`): what is still to be written is dropped, and that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
const words = process.argv.slice(2);
const asJson = words.includes('--json');
try {
  await buildProgram(asJson).parseAsync(words, { from: 'user' });
} catch (error) {
  process.exitCode = printError(error, asJson);
}
