import type { Command } from 'commander';
import { addCommand } from './command.ts';

/** `millrace secrets ...` */
export function addSecretCommands(program: Command): void {
  const secrets = program.command('secrets').description('the key that credentials are encrypted with');

  addCommand<{ json?: boolean }>(secrets, {
    usage: 'rotate',
    description:
      'encrypt all credentials anew under another key; the service may run, and a rotation that was broken off is brought to its end',
    examples: ['millrace secrets rotate'],
    run: async (_args, options) => {
      const { rotateByCommand } = await import('./secret-access.ts');
      return rotateByCommand(options);
    },
  });

  addCommand<{ yes?: boolean; json?: boolean }>(secrets, {
    usage: 'reset',
    description:
      'when the key is lost for good: give up the secrets that cannot be decrypted, so that they can be entered anew; needs no running service',
    options: [{ flags: '--yes', description: 'do not ask' }],
    examples: ['millrace secrets reset --yes'],
    run: async (_args, options) => {
      const { resetByCommand } = await import('./secret-access.ts');
      return resetByCommand(options);
    },
  });
}
