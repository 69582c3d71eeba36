import type { Command } from 'commander';
import { addCommand } from './command.ts';
import { readId } from './values.ts';

const ID_HELP = ['ID of the execution'];

/** `millrace executions ...` */
export function addExecutionCommands(program: Command): void {
  const executions = program.command('executions').description('show and cancel executions');

  addCommand(executions, {
    usage: 'show <id>',
    description: 'show an execution with a timeline of its nodes',
    argumentHelp: ID_HELP,
    examples: ['millrace executions show 42', 'millrace executions show 42 --json'],
    run: async ([text]) => {
      const id = readId(text, 'an execution');
      const { showStoredExecution } = await import('./execution-access.ts');
      return showStoredExecution(id);
    },
  });

  addCommand(executions, {
    usage: 'cancel <id>',
    description: 'cancel a running execution; no further nodes start',
    argumentHelp: ID_HELP,
    examples: ['millrace executions cancel 42'],
    run: async ([text]) => {
      const id = readId(text, 'an execution');
      const { cancelStoredExecution } = await import('./execution-access.ts');
      return cancelStoredExecution(id);
    },
  });
}
