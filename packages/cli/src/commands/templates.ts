import { listTemplates, type Template } from '@millrace/service/templates/catalogue';
import { credentialUsers } from '@millrace/service/templates/services';
import { type Command, InvalidArgumentError } from 'commander';
import { addCommand } from './command.ts';
import { ORG } from './shared.ts';
import { table } from './table.ts';
import type { Setting } from './template-import.ts';
import { readValue } from './template-value.ts';

/** `millrace templates ...` */
export function addTemplateCommands(program: Command): void {
  const templates = program.command('templates').description('ready-made workflows to start from');

  addCommand(templates, {
    usage: 'list',
    description: 'list the templates, and the credentials that each needs',
    examples: ['millrace templates list'],
    run: async () => {
      const rows = await listTemplates();
      const { servicesOf } = await import('@millrace/connectors/connectors');
      const titlesOf = (types: readonly string[]) => servicesOf(types).map(({ title }) => title);
      const columns = [
        { title: 'TEMPLATE', cell: (row: Template) => row.id },
        { title: 'CREDENTIALS', cell: (row: Template) => credentialsOf(row, titlesOf) },
        { title: 'SUMMARY', cell: (row: Template) => row.summary },
      ];
      const json = rows.map(({ id, summary, setup, samples }) => ({ id, summary, setup, samples }));
      return { json, text: table(rows, columns, 'There are no templates.') };
    },
  });

  addCommand<{ org?: string; var?: readonly Setting[]; json?: boolean }>(templates, {
    usage: 'import <template>',
    description: 'create a workflow from a template',
    argumentHelp: ['its ID in the list'],
    options: [
      ORG,
      {
        flags: '--var <name=value>',
        description: 'a value for settings.vars, as JSON or text; may be repeated',
        parse: collectSetting,
      },
    ],
    examples: ['millrace templates import event-router --var receiver_url=https://receiver.example.com'],
    run: async ([id = ''], options) => {
      const { importTemplate } = await import('./template-import.ts');
      return importTemplate(id, options);
    },
  });
}

/** In the order of setup: the services, with the types of which any one is enough, separated by a slash. */
function credentialsOf(
  template: Template,
  titlesOf: (types: readonly string[]) => readonly string[],
): string {
  const usersOf = credentialUsers(template);
  const needed = template.setup.flatMap((step) => {
    if (step.credential === undefined) return [];
    const titles = titlesOf(usersOf(step).map(({ type }) => type));
    const types = step.credential.join('/');
    return [titles.length === 0 ? types : `${titles.join(' and ')} (${types})`];
  });
  return [...new Set(needed)].join(', ');
}

/** Commander passes the values collected from previous options. */
function collectSetting(text: string, before: unknown = []): Setting[] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('--var takes a name and a value: --var channel=C0123456789');
  const setting = { name: text.slice(0, at), value: readValue(text.slice(at + 1)) };
  return [...(before as Setting[]), setting];
}
