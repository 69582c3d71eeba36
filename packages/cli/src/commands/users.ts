import { text as readAll } from 'node:stream/consumers';
import {
  endSessionsByOperator,
  removeAccountByOperator,
  setPasswordByOperator,
  switchSecondFactorOffByOperator,
} from '@millrace/identity/accounts/operator';
import { listUsers } from '@millrace/identity/users/store';
import type { Command } from 'commander';
import { secretOrAsk, textOrAsk } from './ask.ts';
import { addCommand } from './command.ts';
import { withDatabase } from './running-service.ts';
import { ID_COLUMN } from './shared.ts';
import { moment, table } from './table.ts';

const EMAIL = { flags: '--email <address>', description: 'the e-mail address of the account' };

interface UserOptions {
  readonly email?: string;
  readonly stdin?: boolean;
  readonly json?: boolean;
}

/** `millrace users ...` */
export function addUserCommands(program: Command): void {
  const users = program
    .command('users')
    .description("manage accounts of people who can't sign in, or no longer should");
  addList(users);
  addSetPassword(users);
  addEndings(users);
  addRemove(users);
}

function addList(users: Command): void {
  addCommand(users, {
    usage: 'list',
    description: 'list all accounts',
    examples: ['millrace users list'],
    run: async () =>
      withDatabase(async (db) => {
        const rows = await listUsers(db);
        const text = table(
          rows,
          [
            ID_COLUMN,
            { title: 'EMAIL', cell: (row) => row.email },
            { title: 'NAME', cell: (row) => row.name },
            { title: 'ADDRESS CONFIRMED', cell: (row) => (row.is_address_proved ? 'yes' : 'no') },
            { title: 'PASSWORD', cell: (row) => (row.has_password ? 'yes' : 'no') },
            { title: 'SECOND FACTOR', cell: (row) => (row.has_second_factor ? 'on' : 'off') },
            { title: 'SINCE', cell: (row) => moment(row.created_at) },
          ],
          'No accounts yet. To get a link that creates the first one: millrace setup-link',
        );
        return { json: rows, text };
      }),
  });
}

function addSetPassword(users: Command): void {
  addCommand<UserOptions>(users, {
    usage: 'set-password',
    description:
      "set someone's password and end all their sessions; creates the account if a member has none",
    options: [EMAIL, { flags: '--stdin', description: 'read the password from standard input' }],
    examples: [
      'millrace users set-password --email ada@example.com',
      'millrace users set-password --email ada@example.com --stdin < password.txt',
    ],
    run: async (_args, options) => {
      const email = await readEmail(options);
      const password =
        options.stdin === true
          ? (await readAll(process.stdin)).replace(/\r?\n$/, '')
          : ((await secretOrAsk('--stdin', 'New password?', options)) ?? '');
      return withDatabase(async (db) => {
        const set = await setPasswordByOperator(db, email, password);
        const text = set.isNew
          ? `${set.email} now has an account and can sign in.`
          : `${set.email} has a new password; all sessions have ended.`;
        return { json: { email: set.email, is_new: set.isNew }, text };
      });
    },
  });
}

function addEndings(users: Command): void {
  addCommand<UserOptions>(users, {
    usage: 'second-factor-off',
    description: 'turn off two-factor authentication for someone who lost their phone and recovery codes',
    options: [EMAIL],
    examples: ['millrace users second-factor-off --email ada@example.com'],
    run: async (_args, options) => {
      const email = await readEmail(options);
      return withDatabase(async (db) => {
        const wasOn = await switchSecondFactorOffByOperator(db, email);
        const text = wasOn
          ? `${email} now signs in with only the password.`
          : `${email} doesn't use two-factor authentication.`;
        return { json: { email, was_on: wasOn }, text };
      });
    },
  });

  addCommand<UserOptions>(users, {
    usage: 'sign-out',
    description: 'end all sessions of an account',
    options: [EMAIL],
    examples: ['millrace users sign-out --email ada@example.com'],
    run: async (_args, options) => {
      const email = await readEmail(options);
      return withDatabase(async (db) => {
        const ended = await endSessionsByOperator(db, email);
        return { json: { email, ended }, text: `Ended ${ended} sessions of ${email}.` };
      });
    },
  });
}

function addRemove(users: Command): void {
  addCommand<UserOptions>(users, {
    usage: 'remove',
    description: 'remove an account; sessions and memberships end, the audit log is kept',
    options: [EMAIL],
    examples: ['millrace users remove --email ada@example.com'],
    run: async (_args, options) => {
      const email = await readEmail(options);
      return withDatabase(async (db) => {
        const removed = await removeAccountByOperator(db, email);
        return {
          json: { ...removed },
          text: `Removed ${removed.email}. Memberships ended: ${removed.memberships}.`,
        };
      });
    },
  });
}

function readEmail(options: UserOptions): Promise<string> {
  return textOrAsk(options.email, '--email', 'E-mail address of the account?', options);
}
