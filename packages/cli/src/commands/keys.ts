import { SCOPES } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { issueKey, requireKey, revokeKey, rotateKey, unlockKey } from '@millrace/identity/api-keys/keys';
import { type KeyHolder, type KeyRow, listKeys } from '@millrace/identity/api-keys/store';
import { requireMember } from '@millrace/identity/members/store';
import { findUserByEmail } from '@millrace/identity/users/store';
import type { Command } from 'commander';
import { readList } from '../read-list.ts';
import { choicesOrAsk, organisationOrAsk, textOrAsk } from './ask.ts';
import { addCommand } from './command.ts';
import { withDatabase } from './running-service.ts';
import { ID_COLUMN, OPERATOR, ORG } from './shared.ts';
import { paint } from './shell.ts';
import { card, moment, table } from './table.ts';
import { readKeyReference, readMoment } from './values.ts';

const MEMBER = {
  flags: '--member <email>',
  description: 'issue the key to this member, whose role limits it; default: the operator',
};
const KEY_HELP = ['its ID, or the 12 characters after mr_'];

interface CreateOptions {
  readonly org?: string;
  readonly name?: string;
  readonly scopes?: readonly string[];
  readonly expiresAt?: Date;
  readonly member?: string;
  readonly json?: boolean;
}

/** `millrace keys ...` */
export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('manage API keys');
  addCreate(keys);
  addList(keys);
  addRotate(keys);
  addEndings(keys);
}

function addCreate(keys: Command): void {
  addCommand<CreateOptions>(keys, {
    usage: 'create',
    description: "create an API key; it's shown only once",
    options: [
      ORG,
      { flags: '--name <name>', description: 'what the key is for, 1-255 characters' },
      { flags: '--scopes <list>', description: `comma-separated: ${SCOPES.join(', ')}`, parse: readList },
      {
        flags: '--expires-at <time>',
        description: '2027-01-31 or 2027-01-31T12:00:00Z; default: never',
        parse: readMoment,
      },
      MEMBER,
    ],
    examples: [
      'millrace keys create --org Acme --name "nightly import" --scopes workflows:read,executions:execute',
      'millrace keys create --name partner --scopes executions:read --expires-at 2027-01-31 --json',
    ],
    run: async (_args, options) => {
      const name = await textOrAsk(options.name, '--name', 'What is the key for?', options);
      const scopes = await choicesOrAsk(
        options.scopes,
        '--scopes',
        'Which scopes does it need?',
        SCOPES,
        options,
      );
      return withDatabase(async (db) => {
        const organisation = await organisationOrAsk(db, options);
        const issued = await issueKey(
          db,
          {
            organisationId: organisation.id,
            name,
            scopes,
            expiresAt: options.expiresAt ?? null,
            ...(await holderOf(db, organisation.id, options.member)),
          },
          OPERATOR,
        );
        return { json: presentSecret(issued.row, issued.text), text: showSecret(issued.row, issued.text) };
      });
    },
  });
}

function addList(keys: Command): void {
  addCommand<{ org?: string; json?: boolean }>(keys, {
    usage: 'list',
    description: "list an organisation's keys, including expired and revoked ones",
    options: [ORG],
    examples: ['millrace keys list --org Acme'],
    run: async (_args, options) =>
      withDatabase(async (db) => {
        const organisation = await organisationOrAsk(db, options);
        const rows = await listKeys(db, organisation.id);
        const text = table(
          rows,
          [
            ID_COLUMN,
            { title: 'KEY', cell: (row) => `mr_${row.key_id}_...${row.last_four}` },
            { title: 'NAME', cell: (row) => row.name },
            { title: 'STATE', cell: paintState },
            { title: 'SCOPES', cell: (row) => row.scopes.join(' ') },
            { title: 'BELONGS TO', cell: showIssuer },
            { title: 'VALID UNTIL', cell: (row) => moment(row.valid_until) },
            { title: 'LAST USED', cell: (row) => moment(row.last_used_at) },
          ],
          `"${organisation.name}" has no keys. Create one: millrace keys create --name NAME --scopes LIST`,
        );
        return { json: rows.map(present), text };
      }),
  });
}

function addRotate(keys: Command): void {
  addCommand<{ member?: string; json?: boolean }>(keys, {
    usage: 'rotate <key>',
    description: 'replace a key with a new one; the old one works for another 24 hours, or until it expires',
    argumentHelp: KEY_HELP,
    options: [MEMBER],
    examples: ['millrace keys rotate 3', 'millrace keys rotate 3 --member ada@example.com'],
    run: async ([key], options) =>
      withDatabase(async (db) => {
        const reference = readKeyReference(key);
        const { organisation_id: organisationId } = await requireKey(db, reference);
        const { row, text, predecessor } = await rotateKey(db, reference, OPERATOR, {
          ...(await holderOf(db, organisationId, options.member)),
        });
        const until = predecessor.valid_until;
        return {
          json: {
            ...presentSecret(row, text),
            old_key: { id: predecessor.id, valid_until: until?.toISOString() ?? null },
          },
          text: `${showSecret(row, text)}\n\nThe old key ${predecessor.id} works until ${moment(until)}.`,
        };
      }),
  });
}

function addEndings(keys: Command): void {
  addCommand(keys, {
    usage: 'revoke <key>',
    description: 'permanently revoke a key, effective immediately',
    argumentHelp: KEY_HELP,
    examples: ['millrace keys revoke 3'],
    run: async ([key]) =>
      withDatabase(async (db) => {
        const row = await revokeKey(db, readKeyReference(key), OPERATOR);
        return { json: present(row), text: `Revoked key ${row.id}, "${row.name}".` };
      }),
  });

  addCommand(keys, {
    usage: 'unlock <key>',
    description: 'unlock a key after 10 failed authentications in a row',
    argumentHelp: KEY_HELP,
    examples: ['millrace keys unlock 3'],
    run: async ([key]) =>
      withDatabase(async (db) => {
        const row = await unlockKey(db, readKeyReference(key), OPERATOR);
        return { json: present(row), text: `Key ${row.id}, "${row.name}", is ${row.state}.` };
      }),
  });
}

/** The member who holds the key; empty for the operator. @throws AccountError `member_not_found` */
async function holderOf(
  db: Queryable,
  organisationId: number,
  email: string | undefined,
): Promise<{ readonly holder?: KeyHolder }> {
  if (email === undefined) return {};
  const member = await requireMember(db, organisationId, email);
  const account = await findUserByEmail(db, member.email);
  return { holder: { memberId: member.id, userId: account?.id ?? null } };
}

function presentSecret(row: KeyRow, text: string): object {
  return {
    id: row.id,
    key: text,
    name: row.name,
    scopes: row.scopes,
    expires_at: row.expires_at?.toISOString() ?? null,
    organisation_id: row.organisation_id,
    last_four: row.last_four,
  };
}

function showSecret(row: KeyRow, text: string): string {
  const fields = card([
    ['id', String(row.id)],
    ['name', row.name],
    ['scopes', row.scopes.join(' ')],
    ['belongs to', showIssuer(row)],
    ['expires', row.expires_at === null ? 'never' : moment(row.expires_at)],
    ['key', paint('bold', text)],
  ]);
  return `${fields}\n\nSave the key now: it won't be shown again.`;
}

function present(row: KeyRow): object {
  return {
    id: row.id,
    key_id: row.key_id,
    name: row.name,
    scopes: row.scopes,
    state: row.state,
    member: row.issued_by_email,
    issuer: row.issuer,
    organisation_id: row.organisation_id,
    last_four: row.last_four,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    valid_until: row.valid_until?.toISOString() ?? null,
    rotated_at: row.rotated_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    locked_at: row.locked_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
  };
}

function paintState(row: KeyRow): string {
  switch (row.state) {
    case 'valid':
      return paint('green', row.state);
    case 'locked':
      return paint('yellow', row.state);
    case 'expired':
    case 'revoked':
      return paint('dim', row.state);
  }
}

function showIssuer(row: KeyRow): string {
  return row.issued_by_email === null ? 'the operator' : `${row.issued_by_email} (${row.issuer})`;
}
