import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EmbeddedPostgresError } from './errors.ts';

/** The user PostgreSQL runs as. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root, so it runs as `nobody`. Null: as the user who started Millrace. */
export async function findAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  const line = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined) {
    throw new EmbeddedPostgresError(
      'PostgreSQL refuses to run as root, and this machine has no user "nobody" to run it as. ' +
        'Start Millrace as an ordinary user, or give it a PostgreSQL server: DATABASE_URL=postgresql://...',
    );
  }
  return { name: 'nobody', uid: Number(uid), gid: Number(gid) };
}

/**
 * Refuses a folder that the account can't access.
 * @param folder absolute, existing
 */
export async function checkReachable(folder: string, account: Account): Promise<void> {
  for (let current = folder; ; current = dirname(current)) {
    const { mode, uid, gid } = await stat(current);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) {
      throw new EmbeddedPostgresError(
        `The data folder ${folder} cannot be reached by the user "${account.name}", as whom PostgreSQL has to run ` +
          `when Millrace is started by root: ${current} lets only its owner in. Use a folder such as ` +
          `MILLRACE_DATA_DIR=/var/lib/millrace/data/main, or open the way with "chmod o+x ${current}", ` +
          'or start Millrace as an ordinary user.',
      );
    }
    if (current === dirname(current)) return;
  }
}
