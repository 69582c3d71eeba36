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
    argumentHelp: ['the file to write; - for standard output'],
    options: [
      {
        flags: '--organisation <id>',
        description:
          'back up only this organisation, to move it to another instance; it must be paused (orgs pause)',
        parse: readId,
      },
      { flags: '--encrypt', description: 'encrypt it with a passphrase typed at the terminal' },
      {
        flags: '--passphrase-file <file>',
        description: 'encrypt it with the passphrase on the first line of this file',
      },
      {
        flags: '--include-key',
        description: 'include the key that decrypts the stored secrets; the backup must be encrypted',
      },
      {
        flags: '--no-files',
        description: 'leave out the content of files, if you back up their folder by other means',
      },
      {
        flags: '--allow-plain-key',
        description: "with --include-key: include it even though the backup isn't encrypted",
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
      "restore a backup into an empty instance, or an organisation's backup into any instance; restores everything or nothing",
    argumentHelp: ['the backup; - for standard input'],
    options: [
      {
        flags: '--passphrase-file <file>',
        description: 'file whose first line is the passphrase of the backup',
      },
      {
        flags: '--key-file <file>',
        description:
          "for one organisation: the file secret.key of the instance it comes from, if the backup doesn't include the key",
      },
      {
        flags: '--paused',
        description: 'keep every restored organisation paused: nothing runs until orgs resume',
      },
      {
        flags: '--no-files',
        description:
          "don't restore the content of files, which is in their folder already or will be copied later",
      },
      {
        flags: '--name <name>',
        description: 'for one organisation: a new name, if its own is taken here',
      },
      {
        flags: '--keep-ids',
        description:
          'for one organisation: refuse if its workflows, executions or credentials would get new ids',
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
