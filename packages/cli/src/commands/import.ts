import type { Command } from 'commander';
import { addCommand } from './command.ts';
import type { ImportFilesOptions } from './import-files.ts';
import { ORG } from './shared.ts';
import { UsageError } from './shell.ts';

const SOURCES = ['n8n', 'dify', 'flowise', 'auto'];

/** `millrace import ...` */
export function addImportCommand(program: Command): void {
  addCommand<ImportFilesOptions>(program, {
    usage: 'import <path>',
    description: 'import workflows from another product',
    argumentHelp: ['a file, or a folder with JSON and YAML files'],
    options: [
      {
        flags: '--from <product>',
        description: 'n8n, dify, flowise, or auto to detect it',
        parse: (text) => {
          if (SOURCES.includes(text)) return text;
          throw new UsageError('unknown_product', `--from takes ${SOURCES.join(', ')}, not "${text}"`);
        },
      },
      {
        flags: '--dry-run',
        description: 'show what would be imported, and store nothing; needs no running service',
      },
      ORG,
    ],
    examples: [
      'millrace import order-sync.json --dry-run',
      'millrace import ./exports --from n8n --org Acme --json',
    ],
    run: async ([path = '.'], options) => {
      const { importFiles } = await import('./import-files.ts');
      return importFiles(path, options);
    },
  });
}
