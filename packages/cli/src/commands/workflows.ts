import type { Command } from 'commander';
import { addCommand } from './command.ts';
import { readId } from './values.ts';

/** `millrace workflows ...` */
export function addWorkflowCommands(program: Command): void {
  const workflows = program
    .command('workflows')
    .description('take workflows out of the service and bring them in');

  addCommand(workflows, {
    usage: 'export <id>',
    description: 'print a workflow in its last saved state, as GET /workflows/{id} returns it',
    argumentHelp: ['id of the workflow'],
    examples: ['millrace workflows export 12 > greeting.json'],
    run: async ([text]) => {
      const id = readId(text, 'a workflow');
      const { exportWorkflow } = await import('./workflow-transfer.ts');
      return exportWorkflow(id);
    },
  });

  addCommand<{ org?: string; json?: boolean }>(workflows, {
    usage: 'import <file>',
    description:
      'create a workflow from what export or GET /workflows/{id} gave; checked as the API checks it',
    argumentHelp: ['JSON file; - for standard input'],
    options: [
      { flags: '--org <id or name>', description: 'the organisation; not needed while there is only one' },
    ],
    examples: ['millrace workflows import greeting.json --org Acme'],
    run: async ([path = '-'], options) => {
      const { importWorkflow } = await import('./workflow-transfer.ts');
      return importWorkflow(path, options);
    },
  });
}
