import { CREDENTIAL_TYPES } from '@millrace/engine';
import type { Command } from 'commander';
import { readList } from '../read-list.ts';
import { addCommand, type OptionSpec } from './command.ts';
import type { CredentialInput } from './credential-access.ts';
import { ORG } from './shared.ts';
import { readId } from './values.ts';

const HOST = {
  flags: '--host <list>',
  description:
    'for types that authenticate HTTP requests: the hosts it may be sent to, comma-separated; default for an oauth2 service: its own',
  parse: readList,
};
const FIELDS: readonly OptionSpec[] = [
  {
    flags: '--field <name=value>',
    description: "a field that isn't secret; may be repeated",
    parse: (text: string, before?: unknown) => [...(Array.isArray(before) ? before : []), text],
  },
  {
    flags: '--from-file <path>',
    description: 'fields from a file with a JSON object; - for standard input',
  },
  { flags: '--stdin <field>', description: 'read this one field from standard input' },
];
const ID_HELP = ['ID of the credential'];

interface UpdateOptions extends CredentialInput {
  readonly name?: string;
  readonly host?: readonly string[];
}

/** `millrace credentials ...` */
export function addCredentialCommands(program: Command): void {
  const credentials = program
    .command('credentials')
    .description('manage passwords, tokens and keys that workflows use');
  addAdd(credentials);
  addList(credentials);
  addUpdate(credentials);
  addRemove(credentials);
}

function addAdd(credentials: Command): void {
  addCommand<UpdateOptions & { type?: string; org?: string }>(credentials, {
    usage: 'add',
    description: 'store a credential, encrypted; asks for the secret in a terminal',
    options: [
      ORG,
      { flags: '--name <name>', description: 'what it is for, 1-255 characters' },
      { flags: '--type <type>', description: `one of ${CREDENTIAL_TYPES.join(', ')}` },
      HOST,
      ...FIELDS,
    ],
    examples: [
      'millrace credentials add --name "CRM" --type bearer --host api.example.com --stdin token < token.txt',
      'millrace credentials add --name "Mail" --type smtp --from-file smtp.json --org Acme',
      'millrace credentials add --name "Issues" --type oauth2 --field service=github --field client_id=ID --stdin client_secret < secret.txt',
    ],
    run: async (_args, options) => {
      const { addCredentialByCommand } = await import('./credential-access.ts');
      return addCredentialByCommand(options);
    },
  });
}

function addList(credentials: Command): void {
  addCommand<{ org?: string; json?: boolean }>(credentials, {
    usage: 'list',
    description: "list an organisation's credentials, without their secrets",
    options: [ORG],
    examples: ['millrace credentials list --org Acme'],
    run: async (_args, options) => {
      const { listCredentialsByCommand } = await import('./credential-access.ts');
      return listCredentialsByCommand(options);
    },
  });
}

function addUpdate(credentials: Command): void {
  addCommand<UpdateOptions>(credentials, {
    usage: 'update <id>',
    description:
      'change a credential; omitted options keep their values, but a new destination needs the secrets again',
    argumentHelp: ID_HELP,
    options: [{ flags: '--name <name>', description: 'a new name' }, HOST, ...FIELDS],
    examples: [
      'millrace credentials update 3 --stdin token < token.txt',
      'millrace credentials update 3 --name "CRM, read-only"',
    ],
    run: async ([text], options) => {
      const id = readId(text, 'a credential');
      const { updateCredentialByCommand } = await import('./credential-access.ts');
      return updateCredentialByCommand(id, options);
    },
  });
}

function addRemove(credentials: Command): void {
  addCommand<{ force?: boolean }>(credentials, {
    usage: 'remove <id>',
    description: 'permanently remove a credential; refused while workflows or alert rules use it',
    argumentHelp: ID_HELP,
    options: [
      { flags: '--force', description: 'remove it even if it is used; nodes and alerts with it will fail' },
    ],
    examples: ['millrace credentials remove 3'],
    run: async ([text], options) => {
      const id = readId(text, 'a credential');
      const { removeCredentialByCommand } = await import('./credential-access.ts');
      return removeCredentialByCommand(id, options.force === true);
    },
  });
}
