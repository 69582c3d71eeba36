import { runCommand } from './commands/run-command.ts';
import { printError, RefusedError } from './commands/shell.ts';

// The process is not ended here: it ends by itself once everything written has been taken and closed.
const words = process.argv.slice(2);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads has seen enough (`| head`): what is still to be written is dropped, and that is no failure.
  if (error.code === 'EPIPE') return;
  const reason = error.code === 'ENOSPC' ? 'the disk is full' : error.message;
  const message = `Standard output could not be written: ${reason}. What the command did is done.`;
  process.exitCode = printError(new RefusedError('output_failed', message), words.includes('--json'));
});
// There is nowhere left to tell it.
process.stderr.on('error', () => {});
const exitCode = await runCommand(words);
// An output that could not be written has set one, too.
if (exitCode !== 0) process.exitCode = exitCode;
