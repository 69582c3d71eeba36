import type { Command } from 'commander';
import { addCommand } from './command.ts';
import { ORG } from './shared.ts';
import { readId } from './values.ts';

/** `millrace workflows ...` */
export function addWorkflowCommands(program: Command): void {
  const workflows = program.command('workflows').description('export and import workflows');

  addCommand(workflows, {
    usage: 'export <id>',
    description: 'print the saved workflow, as GET /workflows/{id} returns it',
    argumentHelp: ['ID of the workflow'],
    examples: ['millrace workflows export 12 > greeting.json'],
    run: async ([text]) => {
      const id = readId(text, 'a workflow');
      const { exportWorkflow } = await import('./workflow-transfer.ts');
      return exportWorkflow(id);
    },
  });

  addCommand<{ org?: string; json?: boolean }>(workflows, {
    usage: 'import <file>',
    description: 'create a workflow from an export or a response of GET /workflows/{id}',
    argumentHelp: ['JSON file; - for standard input'],
    options: [ORG],
    examples: ['millrace workflows import greeting.json --org Acme'],
    run: async ([path = '-'], options) => {
      const { importWorkflow } = await import('./workflow-transfer.ts');
      return importWorkflow(path, options);
    },
  });
}
