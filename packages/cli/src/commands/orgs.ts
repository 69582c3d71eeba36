import { createOrganisation, listOrganisations } from '@millrace/identity/organisations/store';
import type { Command } from 'commander';
import { textOrAsk } from './ask.ts';
import { addCommand } from './command.ts';
import { withDatabase } from './running-service.ts';
import { ID_COLUMN, OPERATOR } from './shared.ts';
import { moment, table } from './table.ts';

/** `millrace orgs ...` */
export function addOrganisationCommands(program: Command): void {
  const orgs = program
    .command('orgs')
    .description('manage organisations, which own workflows, members and keys');

  addCommand<{ name?: string; json?: boolean }>(orgs, {
    usage: 'create',
    description: 'create an organisation',
    options: [{ flags: '--name <name>', description: 'its name, 1-255 characters, unique' }],
    examples: ['millrace orgs create --name Acme'],
    run: async (_args, options) => {
      const name = await textOrAsk(options.name, '--name', 'Name of the organisation?', options);
      return withDatabase(async (db) => {
        const row = await createOrganisation(db, name, OPERATOR);
        return { json: row, text: `Created organisation ${row.id}, "${row.name}".` };
      });
    },
  });

  addCommand(orgs, {
    usage: 'list',
    description: 'list all organisations',
    examples: ['millrace orgs list'],
    run: async () =>
      withDatabase(async (db) => {
        const rows = await listOrganisations(db);
        const text = table(
          rows,
          [
            ID_COLUMN,
            { title: 'NAME', cell: (row) => row.name },
            { title: 'CREATED', cell: (row) => moment(row.created_at) },
          ],
          'No organisations yet. Create one: millrace orgs create --name NAME',
        );
        return { json: rows, text };
      }),
  });
}
