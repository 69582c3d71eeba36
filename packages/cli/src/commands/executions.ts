import type { Command } from 'commander';
import { addCommand } from './command.ts';
import { readId } from './values.ts';

const ID_HELP = ['id of the execution'];

/** `millrace executions ...` */
export function addExecutionCommands(program: Command): void {
  const executions = program.command('executions').description('look at executions and end them');

  addCommand(executions, {
    usage: 'show <id>',
    description: 'show an execution with a time line of its nodes',
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
    description: 'end an execution that is not final; no further node of it starts',
    argumentHelp: ID_HELP,
    examples: ['millrace executions cancel 42'],
    run: async ([text]) => {
      const id = readId(text, 'an execution');
      const { cancelStoredExecution } = await import('./execution-access.ts');
      return cancelStoredExecution(id);
    },
  });
}
