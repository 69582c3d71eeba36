import type { Command } from 'commander';
import { addCommand, addExamples } from './command.ts';

const UNTIL_STOPPED = 'Runs until Ctrl-C or SIGTERM and logs to standard error.';

/** `millrace start`, `api`, `worker`, `migrate` */
export function addServiceCommands(program: Command): void {
  addRunning(
    program,
    'start',
    { api: true, worker: true },
    'start the whole service: API, worker and PostgreSQL',
  );
  addRunning(program, 'api', { api: true, worker: false }, 'start only the API; needs DATABASE_URL');
  addRunning(program, 'worker', { api: false, worker: true }, 'start only a worker; needs DATABASE_URL');

  addCommand<{ check?: boolean }>(program, {
    usage: 'migrate',
    description: 'bring the database up to date without starting the service',
    options: [
      {
        flags: '--check',
        description: 'change nothing: list pending migrations, and exit with 1 if there are any',
      },
    ],
    examples: ['millrace migrate', 'millrace migrate --check'],
    run: async (_args, options) => {
      const { migrateDatabase } = await import('./migrate.ts');
      return migrateDatabase(options);
    },
  });
}

/** These keep running; they print their result once they are ready. */
function addRunning(
  program: Command,
  name: string,
  roles: { readonly api: boolean; readonly worker: boolean },
  description: string,
): void {
  const command = program.command(name).description(`${description}. ${UNTIL_STOPPED}`);
  command.option('--json', 'when ready, print one line of JSON on standard output and nothing else');
  addExamples(
    command,
    name === 'start'
      ? ['millrace start', 'PORT=9000 millrace start']
      : [`DATABASE_URL=postgresql://... millrace ${name}`],
  );
  command.action(async ({ json }: { readonly json?: boolean }) => {
    const { runService } = await import('../start/run.ts');
    await runService(roles, json === true);
  });
}
