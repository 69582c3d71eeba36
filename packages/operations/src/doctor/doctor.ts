import type { DoctorCheck } from '@millrace/admin-api';
import type { Database } from '@millrace/database/database';
import { pendingMigrations } from '@millrace/database/migrate';
import { createFolderStore } from '@millrace/files/folder-store';
import { readInstallationId } from '@millrace/files/owned-store';
import { S3Client } from '@millrace/files/s3-client';
import { bucketMark } from '@millrace/files/s3-owner';
import { createS3Store } from '@millrace/files/s3-store';
import type { S3Settings } from '@millrace/files/settings';
import { message } from '@millrace/messages';
import { reasonOf } from '@millrace/messages/explained-error';
import type { SecretKeys } from '@millrace/secrets/keys';
import { listKeysInUse, listSecretKeys } from '@millrace/secrets/store';
import { auditFindings } from './audit-findings.ts';
import { bucketFindings } from './bucket-findings.ts';
import { lookForContents } from './contents.ts';
import { filesFindings } from './files-findings.ts';
import type { Diagnosis, Finding } from './finding.ts';
import { diskFindings, type Installation, reachFindings, settingsFindings } from './machine-findings.ts';
import { clockFindings, serverFindings, workerFindings } from './server-findings.ts';
import { readAuditFacts, readClock, readServerFacts } from './store.ts';
import { readVectorFacts, vectorFindings } from './vector-findings.ts';

export interface DoctorDeps {
  readonly db: Database;
  readonly secretKeys: SecretKeys;
  readonly installation: Installation;
  /** Epoch milliseconds of this machine. */
  readonly now?: () => number;
}

/** Looks at everything that a running service depends on. Changes nothing. */
export async function examine({
  db,
  secretKeys,
  installation,
  now = Date.now,
}: DoctorDeps): Promise<Diagnosis> {
  const { dataDir, files, publicUrl, connectionsPerProcess } = installation;
  const checks = new Map<DoctorCheck, () => Promise<Finding[]> | Finding[]>([
    ['settings', () => settingsFindings(installation)],
    ['migrations', () => migrationFindings(db)],
    ['clock', async () => clockFindings(await measureDrift(db, now))],
    [
      'files',
      async () => {
        const installationId = await readInstallationId(db);
        if (files.s3 !== null) return findInBucket(db, files.s3, installationId);
        const store = createFolderStore(files.folder);
        return filesFindings(files, { installationId, lookForContents: () => lookForContents(db, store) });
      },
    ],
    ['keys', () => keyFindings(db, secretKeys)],
    ['audit_log', async () => auditFindings(await readAuditFacts(db))],
    ['vectors', async () => vectorFindings(await readVectorFacts(db))],
    ['public_url', () => reachFindings(publicUrl)],
  ]);
  if (dataDir !== null) checks.set('disk', () => diskFindings(dataDir));
  const results = await Promise.all(
    Array.from(checks, async ([check, find]) => {
      try {
        return await find();
      } catch (error) {
        return [failedCheck(check, error)];
      }
    }),
  );
  const facts = await readServerFacts(db).catch((error: unknown) => failedCheck('server', error));
  const ofServer: Finding[] =
    'check' in facts ? [facts] : [...serverFindings(facts, connectionsPerProcess), ...workerFindings(facts)];
  return {
    checks: [...checks.keys(), 'server', 'durability', 'connections', 'workers'],
    findings: [...results.flat(), ...ofServer],
  };
}

function findInBucket(db: Database, settings: S3Settings, installationId: string): Promise<Finding[]> {
  const client = new S3Client(settings);
  const lookFor = () => lookForContents(db, createS3Store(client));
  const bucket = { place: client.place, mark: bucketMark(client) };
  return bucketFindings(bucket, { installationId, lookForContents: lookFor });
}

/** A check that couldn't be carried out is a finding itself. */
export function failedCheck(check: DoctorCheck, error: unknown): Finding {
  return {
    check,
    level: 'error',
    what: message('doctor.check_failed', { reason: reasonOf(error) }),
    why: message('doctor.check_failed_why'),
    fix: message('doctor.check_failed_fix'),
  };
}

/** How far this machine's clock is ahead of the database's; 0 while the time that asking took could explain it. */
async function measureDrift(db: Database, now: () => number): Promise<number> {
  const before = now();
  const there = await readClock(db);
  const after = now();
  if (there < before) return before - there;
  return there > after ? after - there : 0;
}

async function migrationFindings(db: Database): Promise<Finding[]> {
  const pending = await pendingMigrations(db);
  if (pending.length === 0) return [];
  return [
    {
      check: 'migrations',
      level: 'error',
      what: message('doctor.migrations_pending', { count: pending.length }),
      why: message('doctor.migrations_pending_why'),
      fix: message('doctor.migrations_pending_fix'),
    },
  ];
}

async function keyFindings(db: Database, keys: SecretKeys): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const id of await listKeysInUse(db)) {
    try {
      await keys.find(id);
    } catch (error) {
      findings.push({
        check: 'keys',
        level: 'error',
        what: reasonOf(error),
        why: message('doctor.key_missing_why'),
        fix: message('doctor.key_missing_fix'),
      });
    }
  }
  if ((await listSecretKeys(db)).some(({ state }) => state === 'retiring')) {
    findings.push({
      check: 'keys',
      level: 'warning',
      what: message('doctor.rotation_unfinished'),
      why: message('doctor.rotation_unfinished_why'),
      fix: message('doctor.rotation_unfinished_fix'),
    });
  }
  return findings;
}
