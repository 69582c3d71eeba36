import { type Command, InvalidArgumentError } from 'commander';
import type { BackupCommandOptions } from './backup-access.ts';
import { addCommand } from './command.ts';
import type { RestoreCommandOptions } from './restore-access.ts';

/** `millrace backup` and `millrace restore` */
export function addBackupCommands(program: Command): void {
  addCommand<BackupCommandOptions>(program, {
    usage: 'backup <file>',
    description:
      'write a consistent backup of the whole instance, or of one organisation, whether it is running or stopped',
    argumentHelp: ['where to write it; - for standard output'],
    options: [
      {
        flags: '--organisation <id>',
        description:
          'only this organisation, which must be paused (orgs pause), to move it to another instance',
        parse: readId,
      },
      { flags: '--encrypt', description: 'encrypt it with a passphrase typed at the terminal' },
      {
        flags: '--passphrase-file <file>',
        description: "encrypt it with the passphrase in this file's first line",
      },
      {
        flags: '--include-key',
        description: 'include the key that decrypts the stored secrets; the backup must be encrypted',
      },
      {
        flags: '--no-files',
        description: 'leave out the contents of files: their folder is backed up by other means',
      },
      {
        flags: '--allow-plain-key',
        description: 'with --include-key: include it although the backup is not encrypted',
      },
    ],
    examples: [
      'millrace backup millrace.backup',
      'millrace backup --organisation 3 --passphrase-file passphrase.txt --include-key acme.backup',
      'millrace backup --passphrase-file passphrase.txt --include-key - | ssh host "cat > millrace.backup"',
    ],
    run: async ([file = ''], options) => {
      const { backUpByCommand } = await import('./backup-access.ts');
      return backUpByCommand(file, options);
    },
  });

  addCommand<RestoreCommandOptions>(program, {
    usage: 'restore <file>',
    description:
      'restore a backup into an empty instance, or that of an organisation beside others: all of it, or nothing',
    argumentHelp: ['the backup; - for standard input'],
    options: [
      {
        flags: '--passphrase-file <file>',
        description: 'file with the passphrase of an encrypted backup in its first line',
      },
      {
        flags: '--key-file <file>',
        description:
          'for one organisation: secret.key of the instance it comes from, if it is not in the backup',
      },
      {
        flags: '--paused',
        description: 'leave every restored organisation paused: nothing of it runs until orgs resume',
      },
      {
        flags: '--no-files',
        description: 'leave out the contents of files, which are in their folder already or come later',
      },
      {
        flags: '--name <name>',
        description: 'for one organisation: its name here, if another one already has its name',
      },
      {
        flags: '--keep-ids',
        description:
          'for one organisation: refuse to restore it if its workflows, executions or credentials would get other ids',
      },
    ],
    examples: [
      'MILLRACE_DATA_DIR=/srv/restored millrace restore millrace.backup',
      'MILLRACE_DATA_DIR=/tmp/drill millrace restore --paused millrace.backup',
      'millrace restore --passphrase-file passphrase.txt --name "Acme (moved)" acme.backup',
    ],
    run: async ([file = ''], options) => {
      const { restoreByCommand } = await import('./restore-access.ts');
      return restoreByCommand(file, options);
    },
  });
}

function readId(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give the id that "millrace orgs list" shows.');
}
