import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { message } from '@millrace/messages';
import type { Finding } from '@millrace/operations/doctor/finding';
import { createTestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { reportOf } from '../../src/commands/doctor-report.ts';
import { millrace } from './millrace.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-doctor-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Report {
  readonly checks: readonly string[];
  readonly findings: readonly { check: string; level: string; what: string; why: string; fix: string }[];
}

async function doctor(env: { readonly [name: string]: string }): Promise<Report & { exitCode: number }> {
  const { exitCode, stdout, stderr } = await millrace(['doctor', '--json'], { env });
  expect(stderr).toBe('');
  return { ...(JSON.parse(stdout) as Report), exitCode };
}

describe('what it finds', () => {
  test('settings that the service would not start with, all of them', async () => {
    const { exitCode, findings } = await doctor({ PORT: 'many', MILLRACE_LOG_LEVEL: 'loud' });
    expect(exitCode).toBe(1);
    expect(findings.map(({ check, level, what }) => [check, level, what.split(':')[0]])).toEqual([
      ['settings', 'error', 'PORT'],
      ['settings', 'error', 'MILLRACE_LOG_LEVEL'],
    ]);
  });

  test('that nothing runs', async () => {
    const { exitCode, findings } = await doctor({ MILLRACE_DATA_DIR: folder });
    expect(exitCode).toBe(1);
    expect(findings).toMatchObject([{ check: 'server', level: 'error' }]);
    expect(findings[0]?.what).toContain('No Millrace is running');
  });

  test('what is wrong with a database, but no password', async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    // Nothing ever listens on the port of the public URL.
    const env = {
      DATABASE_URL: database.url,
      MILLRACE_DATA_DIR: folder,
      MILLRACE_PUBLIC_URL: 'http://127.0.0.1:1',
    };
    const { exitCode, checks, findings } = await doctor(env);
    expect(exitCode).toBe(1);
    expect(checks).toContain('pooling');
    const found = findings.map(({ check }) => check);
    expect(found).toEqual(expect.arrayContaining(['workers', 'public_url']));
    // The checks that have nothing to say on a migrated database without secrets, on the same machine.
    for (const check of ['pooling', 'migrations', 'clock', 'keys']) expect(found).not.toContain(check);
    const { text } = await plain(env);
    expect(text).toContain('error  workers: No worker is running.');
    expect(text).toContain('Fix: Start one with "millrace worker"');
    expect(text).toMatch(/^ok {2}.*migrations/m);
    const { password } = new URL(database.url);
    if (password !== '') expect(text).not.toContain(password);
  });
});

async function plain(env: { readonly [name: string]: string }): Promise<{ text: string }> {
  const { stdout } = await millrace(['doctor'], { env });
  return { text: stdout };
}

test('only errors make it fail', () => {
  const finding = (level: Finding['level']): Finding => ({
    check: 'clock',
    level,
    what: message('doctor.clock_ahead', { seconds: 7 }),
    why: message('doctor.clock_why'),
    fix: message('doctor.clock_fix'),
  });
  const { isFailure, text } = reportOf({
    checks: ['clock', 'keys'],
    findings: [finding('warning'), finding('info')],
  });
  expect(isFailure).toBe(false);
  expect(text.split('\n').at(-1)).toBe('ok  keys');
  expect(reportOf({ checks: [], findings: [finding('warning'), finding('error')] }).isFailure).toBe(true);
  expect(reportOf({ checks: ['clock'], findings: [] })).toMatchObject({
    isFailure: false,
    text: 'ok  clock',
  });
});
