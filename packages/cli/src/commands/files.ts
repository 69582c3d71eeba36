import type { Command } from 'commander';
import { addCommand } from './command.ts';

/** `millrace files ...` */
export function addFilesCommands(program: Command): void {
  const files = program.command('files').description('the content of files that workflows handle');

  addCommand<{ json?: boolean }>(files, {
    usage: 'copy <from>',
    description:
      'copy the content of all files from a folder or bucket to where the settings say, before the service uses it; can be repeated',
    argumentHelp: [
      'the folder, or s3://BUCKET/PREFIX, reached with MILLRACE_FILES_S3_ENDPOINT, MILLRACE_FILES_S3_REGION, MILLRACE_FILES_S3_ACCESS_KEY and MILLRACE_FILES_S3_SECRET_KEY',
    ],
    examples: [
      'millrace files copy /srv/millrace/files',
      'millrace files copy s3://millrace-files/production',
    ],
    run: async ([from = ''], options) => {
      const { copyByCommand } = await import('./files-copy.ts');
      return copyByCommand(from, options);
    },
  });
}
