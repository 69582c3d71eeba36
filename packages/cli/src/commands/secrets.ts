import type { Command } from 'commander';
import { addCommand } from './command.ts';

/** `millrace secrets ...` */
export function addSecretCommands(program: Command): void {
  const secrets = program.command('secrets').description('manage the key that encrypts credentials');

  addCommand<{ json?: boolean }>(secrets, {
    usage: 'rotate',
    description:
      're-encrypt all credentials with a new key, even while the service runs; also finishes an interrupted rotation',
    examples: ['millrace secrets rotate'],
    run: async (_args, options) => {
      const { rotateByCommand } = await import('./secret-access.ts');
      return rotateByCommand(options);
    },
  });

  addCommand<{ yes?: boolean; json?: boolean }>(secrets, {
    usage: 'reset',
    description:
      "if the key is lost: discard the secrets that can't be decrypted so that they can be entered again; needs no running service",
    options: [{ flags: '--yes', description: "don't ask for confirmation" }],
    examples: ['millrace secrets reset --yes'],
    run: async (_args, options) => {
      const { resetByCommand } = await import('./secret-access.ts');
      return resetByCommand(options);
    },
  });
}
