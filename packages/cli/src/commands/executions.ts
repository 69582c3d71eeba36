import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { addCommand } from './command.ts';
import type { BatchOptions } from './execution-batch.ts';
import { FORMATS } from './row-format.ts';
import { readId } from './values.ts';

const ID_HELP = ['ID of the execution'];

/** `millrace executions ...` */
export function addExecutionCommands(program: Command): void {
  const executions = program.command('executions').description('show, cancel and start executions');

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

  addCommand<BatchOptions>(executions, {
    usage: 'batch <workflow> <file>',
    description: 'start a workflow once for each row of a file; run it again to resume',
    argumentHelp: ['ID of the workflow', 'CSV, JSON Lines or JSON file; - for standard input'],
    options: [
      {
        flags: '--format <format>',
        description: "csv, jsonl or json; by default derived from the file's name",
        parse: (text) => {
          if (FORMATS.some((format) => format === text)) return text;
          throw new InvalidArgumentError(`Give one of ${FORMATS.join(', ')}.`);
        },
      },
      {
        flags: '--encoding <name>',
        description: 'encoding of the file, such as shift_jis (default: utf-8)',
        parse: (text) => {
          try {
            return new TextDecoder(text).encoding;
          } catch {
            throw new InvalidArgumentError('Give the name of an encoding, such as utf-8 or shift_jis.');
          }
        },
      },
      {
        flags: '--key <text>',
        description:
          "prefix of the idempotency keys, followed by the row's number; by default derived from the file's content",
      },
    ],
    examples: [
      'millrace executions batch 12 customers.csv',
      'millrace executions batch 12 customers.csv --encoding shift_jis --json',
      'millrace executions batch 12 - --format jsonl --key customers-november < customers.jsonl',
    ],
    run: async ([text, path = '-'], options) => {
      const id = readId(text, 'a workflow');
      const { startRows } = await import('./execution-batch.ts');
      return startRows(id, path, options);
    },
  });
}
