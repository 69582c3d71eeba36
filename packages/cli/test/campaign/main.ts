import { prepareDataDir } from '@millrace/testing/prepared-data-dir';
import { freshFolder, removeOwnFolder } from '../faults/support/folders.ts';
import { UsageError } from '../run-options.ts';
import { runCampaign } from './campaign.ts';
import { HELP, parseOptions } from './options.ts';
import { formatReport } from './report.ts';

/** Standard output is reserved for the report. */
function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  const task = parseOptions(args);
  if (task.kind === 'help') {
    process.stdout.write(`${HELP}\n`);
    return 0;
  }
  const preparedDataDir = freshFolder('prepared');
  try {
    await prepareDataDir(preparedDataDir);
    const { kind: _, json, ...options } = task;
    const report = await runCampaign(options, { preparedDataDir, progress });
    process.stdout.write(`${json ? JSON.stringify(report) : formatReport(report)}\n`);
    if (report.folder !== null) progress(`Logs and rows are in ${report.folder}`);
    return report.findings.length === 0 ? 0 : 1;
  } finally {
    await removeOwnFolder();
  }
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error;
  progress(`${error.message}\n\n${HELP}`);
  return 2;
});
