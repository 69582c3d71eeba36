import { changeLimits } from '@millrace/identity/organisations/limits';
import { pauseOrganisation, resumeOrganisation } from '@millrace/identity/organisations/pause';
import { changeShare, createOrganisation, listOrganisations } from '@millrace/identity/organisations/store';
import { NotSettledError, settle } from '@millrace/service/pause/settle';
import { type Command, InvalidArgumentError } from 'commander';
import { readBytes } from '../settings/variable.ts';
import { organisationOrAsk, textOrAsk } from './ask.ts';
import { addCommand } from './command.ts';
import { withDatabase } from './running-service.ts';
import { countOf, ID_COLUMN, OPERATOR, ORG } from './shared.ts';
import { RefusedError, UsageError } from './shell.ts';
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
            { title: 'PAUSED', cell: (row) => (row.paused_at === null ? '' : moment(row.paused_at)) },
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
        description: '1-100; slots and turns are shared in proportion to it (initially 1)',
        parse: readShare,
      },
      {
        flags: '--cap <percent>',
        description:
          "1-100; maximum share of each worker's slots that it may use, but at least one slot (initially 100)",
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

  addPauseCommands(orgs);
  addLimitCommand(orgs);
}

/** `millrace orgs set-limits` */
function addLimitCommand(orgs: Command): void {
  addCommand<LimitOptions>(orgs, {
    usage: 'set-limits',
    description: 'change what an organisation may queue and store; it applies within seconds',
    options: [
      ORG,
      {
        flags: '--queue <number>',
        description: `executions that may wait for a worker; ${OTHER_LIMITS}`,
        parse: readLimit(readCount),
      },
      {
        flags: '--executions-storage <size>',
        description: `inputs and outputs of executions, such as 20GiB; ${OTHER_LIMITS}`,
        parse: readLimit(readBytes),
      },
      {
        flags: '--data-storage <size>',
        description: `entries of data.store, such as 1GiB; ${OTHER_LIMITS}`,
        parse: readLimit(readBytes),
      },
    ],
    examples: [
      'millrace orgs set-limits --org Trial --queue 500 --executions-storage 1GiB',
      'millrace orgs set-limits --org Acme --queue default',
    ],
    run: async (_args, { queue, executionsStorage, dataStorage, ...options }) => {
      if (queue === undefined && executionsStorage === undefined && dataStorage === undefined) {
        throw new UsageError('missing_option', 'Give --queue, --executions-storage or --data-storage.');
      }
      return withDatabase(async (db) => {
        const { id } = await organisationOrAsk(db, options);
        const change = {
          queued: toLimit(queue),
          executionsBytes: toLimit(executionsStorage),
          dataBytes: toLimit(dataStorage),
        };
        const row = await changeLimits(db, id, change, OPERATOR);
        const limits = [
          `queue ${describeLimit(row.queue_limit, String)}`,
          `executions ${describeLimit(row.executions_storage_bytes, describeBytes)}`,
          `data.store ${describeLimit(row.data_storage_bytes, describeBytes)}`,
        ];
        return { json: row, text: `Organisation ${row.id}, "${row.name}": ${limits.join(', ')}.` };
      });
    },
  });
}

/** `millrace orgs pause` and `millrace orgs resume` */
function addPauseCommands(orgs: Command): void {
  addCommand<{ org?: string; grace?: number; json?: boolean }>(orgs, {
    usage: 'pause',
    description: 'pause an organisation: no starts, executions, schedules or alerts until it is resumed',
    options: [
      ORG,
      {
        flags: '--grace <seconds>',
        description: `how long running executions get to end or reach a wait, 0-86400 (default: ${GRACE_S})`,
        parse: readGrace,
      },
    ],
    examples: ['millrace orgs pause --org Acme', 'millrace orgs pause --org Acme --grace 600'],
    run: async (_args, { grace = GRACE_S, ...options }) =>
      withDatabase(async (db) => {
        const { id } = await organisationOrAsk(db, options);
        const row = await pauseOrganisation(db, id, OPERATOR);
        const { takenBack } = await settle(db, id, grace * 1_000).catch(notSettled);
        const text =
          `Organisation ${row.id}, "${row.name}", is paused: nothing runs or starts. ` +
          (takenBack === 0
            ? ''
            : `${countOf(takenBack, 'execution')} hadn't ended and went back to the queue. `) +
          `Resume it with "millrace orgs resume --org ${row.id}".`;
        return { json: { ...row, taken_back: takenBack }, text };
      }),
  });

  addCommand<{ org?: string; json?: boolean }>(orgs, {
    usage: 'resume',
    description: 'resume a paused organisation where it left off',
    options: [ORG],
    examples: ['millrace orgs resume --org Acme'],
    run: async (_args, options) =>
      withDatabase(async (db) => {
        const { id } = await organisationOrAsk(db, options);
        const row = await resumeOrganisation(db, id, OPERATOR);
        return { json: row, text: `Organisation ${row.id}, "${row.name}", continues.` };
      }),
  });
}

/** As long as executions get when the service stops. */
const GRACE_S = 25;

function readGrace(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 86_400) return Number(text);
  throw new InvalidArgumentError('Give a whole number of seconds from 0 to 86400.');
}

function notSettled(error: unknown): never {
  if (!(error instanceof NotSettledError)) throw error;
  throw new RefusedError(
    'organisation_not_settled',
    `The organisation is paused, but ${error.message}. Run the command again.`,
  );
}

interface LimitOptions {
  readonly org?: string;
  readonly queue?: number | typeof DEFAULT;
  readonly executionsStorage?: number | typeof DEFAULT;
  readonly dataStorage?: number | typeof DEFAULT;
  readonly json?: boolean;
}

const OTHER_LIMITS = "0 for no limit, default for the service's setting";

const DEFAULT = 'default';

/** Not null for the default: an option can't have that. */
function readLimit(read: (text: string) => number | undefined): (text: string) => number | typeof DEFAULT {
  return (text) => {
    const limit = text === DEFAULT ? DEFAULT : read(text);
    if (limit === undefined)
      throw new InvalidArgumentError('Give a number, a size such as 20GiB, or default.');
    return limit;
  };
}

function toLimit(given: number | typeof DEFAULT | undefined): number | null | undefined {
  return given === DEFAULT ? null : given;
}

function readCount(text: string): number | undefined {
  return /^\d{1,7}$/.test(text) ? Number(text) : undefined;
}

function describeLimit(limit: number | null, describe: (limit: number) => string): string {
  if (limit === null) return "as in the service's settings";
  return limit === 0 ? 'without a limit' : `at most ${describe(limit)}`;
}

/** In the largest unit that is exact. */
function describeBytes(bytes: number): string {
  const power = [3, 2, 1].find((each) => bytes % 1024 ** each === 0) ?? 0;
  return `${bytes / 1024 ** power} ${['bytes', 'KiB', 'MiB', 'GiB'][power]}`;
}

function readShare(text: string): number {
  if (!/^([1-9]\d?|100)$/.test(text)) throw new InvalidArgumentError('Give a whole number from 1 to 100.');
  return Number(text);
}
