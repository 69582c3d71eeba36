import { changeShare, createOrganisation, listOrganisations } from '@millrace/identity/organisations/store';
import { type Command, InvalidArgumentError } from 'commander';
import { organisationOrAsk, textOrAsk } from './ask.ts';
import { addCommand } from './command.ts';
import { withDatabase } from './running-service.ts';
import { ID_COLUMN, OPERATOR, ORG } from './shared.ts';
import { UsageError } from './shell.ts';
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
            { title: 'WEIGHT', align: 'right', cell: (row) => String(row.slot_weight) },
            { title: 'CAP', align: 'right', cell: (row) => `${row.slot_cap_percent} %` },
            { title: 'CREATED', cell: (row) => moment(row.created_at) },
          ],
          'No organisations yet. Create one: millrace orgs create --name NAME',
        );
        return { json: rows, text };
      }),
  });

  addCommand<{ org?: string; weight?: number; cap?: number; json?: boolean }>(orgs, {
    usage: 'set-share',
    description: "change an organisation's share of the workers' slots; it applies at once",
    options: [
      ORG,
      {
        flags: '--weight <number>',
        description: '1-100; slots and turns are shared in this proportion (1 at first)',
        parse: readShare,
      },
      {
        flags: '--cap <percent>',
        description: "1-100; most of each worker's slots that it may use, at least one (100 at first)",
        parse: readShare,
      },
    ],
    examples: [
      'millrace orgs set-share --org Acme --weight 3',
      'millrace orgs set-share --org Trial --cap 10',
    ],
    run: async (_args, { weight, cap, ...options }) => {
      if (weight === undefined && cap === undefined) {
        throw new UsageError('missing_option', 'Give --weight, --cap or both.');
      }
      return withDatabase(async (db) => {
        const { id } = await organisationOrAsk(db, options);
        const row = await changeShare(db, id, { weight, capPercent: cap }, OPERATOR);
        const share = `weight ${row.slot_weight}, at most ${row.slot_cap_percent} % of the slots`;
        return { json: row, text: `Organisation ${row.id}, "${row.name}": ${share}.` };
      });
    },
  });
}

function readShare(text: string): number {
  if (!/^([1-9]\d?|100)$/.test(text)) throw new InvalidArgumentError('Give a whole number from 1 to 100.');
  return Number(text);
}
