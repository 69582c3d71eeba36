import type { Command } from 'commander';
import { addCommand } from './command.ts';
import { ORG } from './shared.ts';

const ID_HELP = ['the id in its file'];

/** `millrace connectors ...` */
export function addConnectorCommands(program: Command): void {
  const connectors = program
    .command('connectors')
    .description("manage an organisation's own connectors, which are defined in files");
  addUpload(connectors);
  addList(connectors);
  addUpdate(connectors);
  addRemove(connectors);
}

function addUpload(connectors: Command): void {
  addCommand<{ org?: string; check?: boolean }>(connectors, {
    usage: 'upload <file>',
    description: 'check a file and store it as a new revision of its connector',
    argumentHelp: ['the JSON file; - for standard input'],
    options: [{ flags: '--check', description: 'only check it; needs no service' }, ORG],
    examples: [
      'millrace connectors upload helpdesk.json --check',
      'millrace connectors upload helpdesk.json --org Acme',
    ],
    run: async ([path = ''], options) => {
      const { checkFile, uploadFile } = await import('./connector-access.ts');
      return options.check === true ? checkFile(path) : uploadFile(path, options);
    },
  });
}

function addList(connectors: Command): void {
  addCommand<{ org?: string; json?: boolean }>(connectors, {
    usage: 'list',
    description: "list an organisation's own connectors",
    options: [ORG],
    examples: ['millrace connectors list --org Acme'],
    run: async (_args, options) => {
      const { listByCommand } = await import('./connector-access.ts');
      return listByCommand(options);
    },
  });
}

function addUpdate(connectors: Command): void {
  addCommand<{ org?: string }>(connectors, {
    usage: 'update <connector>',
    description:
      'move workflows that use an earlier revision to the newest one; those that would get problems stay as they are',
    argumentHelp: ID_HELP,
    options: [ORG],
    examples: ['millrace connectors update helpdesk --org Acme'],
    run: async ([name = ''], options) => {
      const { updateByCommand } = await import('./connector-access.ts');
      return updateByCommand(name, options);
    },
  });
}

function addRemove(connectors: Command): void {
  addCommand<{ org?: string }>(connectors, {
    usage: 'remove <connector>',
    description: "remove a connector; refused while workflows that aren't archived use it",
    argumentHelp: ID_HELP,
    options: [ORG],
    examples: ['millrace connectors remove helpdesk --org Acme'],
    run: async ([name = ''], options) => {
      const { removeByCommand } = await import('./connector-access.ts');
      return removeByCommand(name, options);
    },
  });
}
