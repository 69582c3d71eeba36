import type { Command } from 'commander';
import { addCommand } from './command.ts';

/** `millrace files ...` */
export function addFilesCommands(program: Command): void {
  const files = program.command('files').description('the content of files that workflows handle');

  addCommand<{ json?: boolean }>(files, {
    usage: 'copy <from>',
    description:
      'copy the content of all files from a folder or bucket to where the settings say, before the service uses it; can be repeated',
    argumentHelp: ['the folder, or s3://BUCKET/PREFIX, which MILLRACE_FILES_S3_ variables describe'],
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
