import type { Command } from 'commander';
import { addCommand } from './command.ts';

/** `millrace support-bundle` */
export function addSupportBundleCommand(program: Command): void {
  addCommand(program, {
    usage: 'support-bundle <file>',
    description: 'write what support needs to know about the installation to a file, without secrets or data',
    argumentHelp: ['the file; it must not exist yet'],
    examples: ['millrace support-bundle millrace-support.json'],
    run: async ([file = '']) => {
      const { writeBundle } = await import('./bundle-contents.ts');
      return writeBundle(file);
    },
  });
}
