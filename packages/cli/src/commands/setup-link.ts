import type { Command } from 'commander';
import { makeSetupUrl } from '../start/first-start.ts';
import { addCommand } from './command.ts';
import { findPublicUrl, withDatabase } from './running-service.ts';
import { RefusedError } from './shell.ts';

/** `millrace setup-link` */
export function addSetupLinkCommand(program: Command): void {
  addCommand(program, {
    usage: 'setup-link',
    description: 'print a link that creates the first account; it works once',
    examples: ['millrace setup-link'],
    run: async () =>
      withDatabase(async (db, config) => {
        const url = await makeSetupUrl(db, await findPublicUrl(config));
        if (url === null) {
          throw new RefusedError(
            'already_set_up',
            'There are already accounts. Ask an administrator for an invitation, or run `millrace members add`.',
          );
        }
        return { json: { setup_url: url }, text: url };
      }),
  });
}
