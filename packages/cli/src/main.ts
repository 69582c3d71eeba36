import { runCommand } from './commands/run-command.ts';
import { printError, RefusedError } from './commands/shell.ts';

// The process isn't ended here: it exits on its own once all output has been consumed and closed.
const words = process.argv.slice(2);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has seen enough (`| head`): the remaining output is dropped, which isn't a failure.
  if (error.code === 'EPIPE') return;
  const reason = error.code === 'ENOSPC' ? 'the disk is full' : error.message;
  const message = `Standard output could not be written: ${reason}. What the command did is done.`;
  process.exitCode = printError(new RefusedError('output_failed', message), words.includes('--json'));
});
// There is nowhere left to report it.
process.stderr.on('error', () => {});
const exitCode = await runCommand(words);
// A failed write to an output has set one, too.
if (exitCode !== 0) process.exitCode = exitCode;
