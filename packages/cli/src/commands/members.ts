import { ROLES } from '@millrace/admin-api';
import { invitationUrl } from '@millrace/identity/invitations/making';
import {
  type GrantResult,
  grantMembership,
  listMembers,
  type MemberRow,
  removeMember,
  setMemberRole,
} from '@millrace/identity/members/store';
import type { OrganisationRow } from '@millrace/identity/organisations/store';
import type { Command } from 'commander';
import type { Config } from '../settings/config.ts';
import { organisationOrAsk, textOrAsk } from './ask.ts';
import { addCommand } from './command.ts';
import { withDatabase } from './running-service.ts';
import { ID_COLUMN, OPERATOR, ORG } from './shared.ts';
import { moment, table } from './table.ts';

const EMAIL = { flags: '--email <address>', description: "the member's e-mail address" };
const ROLE = { flags: '--role <role>', description: ROLES.join(', ') };

/** The operator knows the recipient of a link. */
const VOUCHED_FOR = { isVouchedFor: true } as const;

interface MemberOptions {
  readonly org?: string;
  readonly email?: string;
  readonly role?: string;
  readonly json?: boolean;
}

/** `millrace members ...` */
export function addMemberCommands(program: Command): void {
  const members = program.command('members').description('manage members of an organisation and their roles');

  addCommand<MemberOptions>(members, {
    usage: 'add',
    description: 'add a member, or change the role of an existing one',
    options: [ORG, EMAIL, ROLE],
    examples: ['millrace members add --org Acme --email ada@example.com --role editor'],
    run: async (_args, options) => {
      const { email, role } = await emailAndRole(options);
      return withDatabase(async (db, config) => {
        const organisation = await organisationOrAsk(db, options);
        const given = await grantMembership(db, organisation.id, email, role, OPERATOR, VOUCHED_FOR);
        return showGiven(given, organisation, config, ({ email, role }) => `${email} is ${role}`);
      });
    },
  });

  addCommand<MemberOptions>(members, {
    usage: 'set-role',
    description: 'change the role of a member; it limits their keys immediately',
    options: [ORG, EMAIL, ROLE],
    examples: ['millrace members set-role --org Acme --email ada@example.com --role viewer'],
    run: async (_args, options) => {
      const { email, role } = await emailAndRole(options);
      return withDatabase(async (db, config) => {
        const organisation = await organisationOrAsk(db, options);
        const given = await setMemberRole(db, organisation.id, email, role, OPERATOR, VOUCHED_FOR);
        return showGiven(given, organisation, config, ({ email, role }) => `${email} is now ${role}`);
      });
    },
  });

  addCommand<MemberOptions>(members, {
    usage: 'list',
    description: 'list the members of an organisation',
    options: [ORG],
    examples: ['millrace members list --org Acme'],
    run: async (_args, options) =>
      withDatabase(async (db) => {
        const organisation = await organisationOrAsk(db, options);
        const rows = await listMembers(db, organisation.id);
        const text = table(
          rows,
          [
            ID_COLUMN,
            { title: 'EMAIL', cell: (row) => row.email },
            { title: 'ROLE', cell: (row) => row.role },
            { title: 'SINCE', cell: (row) => moment(row.created_at) },
          ],
          `"${organisation.name}" has no members.`,
        );
        return { json: rows, text };
      }),
  });

  addCommand<MemberOptions>(members, {
    usage: 'remove',
    description: 'remove a member; keys issued to them stop working immediately',
    options: [ORG, EMAIL],
    examples: ['millrace members remove --org Acme --email ada@example.com'],
    run: async (_args, options) => {
      const email = await textOrAsk(options.email, '--email', 'E-mail address of the member?', options);
      return withDatabase(async (db) => {
        const organisation = await organisationOrAsk(db, options);
        const row = await removeMember(db, organisation.id, email, OPERATOR);
        return { json: row, text: `${row.email} is no longer a member of "${organisation.name}".` };
      });
    },
  });
}

async function emailAndRole(options: MemberOptions): Promise<{ email: string; role: string }> {
  const email = await textOrAsk(options.email, '--email', 'E-mail address of the member?', options);
  const role = await textOrAsk(options.role, '--role', `Role (${ROLES.join(', ')})?`, options);
  return { email, role };
}

function showGiven(
  given: GrantResult,
  { id, name }: OrganisationRow,
  { publicUrl }: Config,
  say: (row: MemberRow) => string,
): { readonly json: object; readonly text: string } {
  if (given.kind === 'member') return { json: given.row, text: `${say(given.row)} in "${name}".` };
  const { email, role, invitation } = given;
  const url = invitationUrl(publicUrl, invitation);
  return {
    json: { organisation_id: id, email, role, invitation: { id: invitation.id, url } },
    text: `Someone created an account with ${email}, but it isn't confirmed that the address is theirs.
The role ${role} in "${name}" waits for the owner of the address. Send this link to ${email}. It works once, within seven days:

  ${url}`,
  };
}
