import type { DoctorCheck } from '@millrace/admin-api';
import type { PgDatabase } from '@millrace/database/pool';
import { message, verbatim } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { examine, failedCheck } from '@millrace/operations/doctor/doctor';
import type { Diagnosis, Finding } from '@millrace/operations/doctor/finding';
import { createSecretKeys } from '@millrace/secrets/keys';
import { type Config, ConfigError } from '../settings/config.ts';
import { installationOf } from '../start/installation.ts';
import { checkPooling, UnsuitableDatabaseError } from '../start/postgres.ts';
import { findPublicUrl, withDatabase } from './running-service.ts';
import { type CommandResult, paint, RefusedError } from './shell.ts';

/** `doctor` */
export async function diagnose(): Promise<CommandResult> {
  return reportOf(await examineInstallation());
}

/** For people and for programs; a failure if one of the findings is an error. */
export function reportOf({ checks, findings }: Diagnosis): CommandResult {
  const json = {
    checks,
    findings: findings.map(({ check, level, what, why, fix }) => ({
      check,
      level,
      what: inEnglish(what),
      why: inEnglish(why),
      fix: inEnglish(fix),
    })),
  };
  const isFailure = findings.some(({ level }) => level === 'error');
  return { json, text: describe(checks, findings), isFailure };
}

/** What is found even if nothing runs: unusable settings and an unreachable database are findings, too. */
async function examineInstallation(): Promise<Diagnosis> {
  try {
    return await withDatabase(examineRunning);
  } catch (error) {
    if (error instanceof ConfigError)
      return { checks: ['settings'], findings: error.problems.map(ofProblem) };
    if (error instanceof RefusedError)
      return { checks: ['settings', 'server'], findings: [ofAbsence(error)] };
    throw error;
  }
}

async function examineRunning(db: PgDatabase, config: Config): Promise<Diagnosis> {
  const publicUrl = await findPublicUrl(config);
  const installation = installationOf({ ...config, publicUrl });
  const pooling = await checkPooling(db, config).then(() => [], ofPooling);
  const { checks, findings } = await examine({ db, secretKeys: createSecretKeys(config), installation });
  return { checks: [...checks, 'pooling'], findings: [...pooling, ...findings] };
}

function ofProblem(problem: string): Finding {
  return {
    check: 'settings',
    level: 'error',
    what: verbatim(problem),
    why: message('doctor.settings_invalid_why'),
    fix: message('doctor.settings_invalid_fix'),
  };
}

function ofAbsence(error: RefusedError): Finding {
  return {
    check: 'server',
    level: 'error',
    what: verbatim(error.message),
    why: message('doctor.database_away_why'),
    fix: message('doctor.database_away_fix'),
  };
}

function ofPooling(error: unknown): Finding[] {
  if (!(error instanceof UnsuitableDatabaseError)) return [failedCheck('pooling', error)];
  return [
    {
      check: 'pooling',
      level: 'error',
      what: verbatim(error.message),
      why: message('doctor.database_unsuitable_why'),
      fix: message('doctor.database_unsuitable_fix'),
    },
  ];
}

const COLOURS = { error: 'red', warning: 'yellow', info: 'cyan' } as const;
const ORDER = ['error', 'warning', 'info'] as const;

function describe(checks: readonly DoctorCheck[], findings: readonly Finding[]): string {
  const found = ORDER.flatMap((level) => findings.filter((finding) => finding.level === level));
  const fine = checks.filter((check) => found.every((finding) => finding.check !== check));
  const blocks = found.map(
    ({ check, level, what, why, fix }) =>
      `${paint(COLOURS[level], level)}  ${check}: ${inEnglish(what)}\n  Why: ${inEnglish(why)}\n  Fix: ${inEnglish(fix)}`,
  );
  if (fine.length > 0) blocks.push(`${paint('green', 'ok')}  ${fine.join(', ')}`);
  return blocks.join('\n\n');
}
