import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProgram, helpText, leafCommands } from '../../src/commands/program.ts';
import { builtCommand } from '../built-command.ts';
import { millrace, millraceProcess } from './millrace.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('every command', () => {
  it.each(leafCommands(buildProgram()))('$name has help with an example, and --json', ({ name, command }) => {
    const text = helpText(command, 80);
    expect(text).toMatch(new RegExp(`^Usage: millrace ${name}\\b`));
    expect(text).toMatch(new RegExp(`^Examples?:\n(  \\$ .*\n)*  \\$ (\\S+=\\S+ )?millrace ${name}\\b`, 'm'));
    expect(text).toContain('--json');
  });
});

describe('wrong usage', () => {
  it.each([
    ['a command that does not exist', ['dance']],
    ['a group without a command', ['keys']],
    ['an option that does not exist', ['orgs', 'list', '--colour']],
    ['a missing argument', ['keys', 'revoke']],
    ['an argument too many', ['orgs', 'list', 'all']],
    ['an id that is none', ['executions', 'show', '0']],
  ])('%s exits with 2, an empty standard output and the reason', async (_what, words) => {
    const plain = await millrace(words);
    expect(plain).toMatchObject({ exitCode: 2, stdout: '' });
    expect(plain.stderr).not.toBe('');
    const asJson = await millrace([...words, '--json']);
    expect(asJson).toMatchObject({ exitCode: 2, stdout: '' });
    const { error } = JSON.parse(asJson.stderr) as { error: { code: string; message: string } };
    expect(error.message).not.toBe('');
  });

  it('suggests the intended command', async () => {
    expect((await millrace(['orgs', 'crate'])).stderr).toContain('Did you mean create?');
  });

  it('reports every mistake in the configuration at once', async () => {
    const env = { PORT: 'many', MILLRACE_LOG_LEVEL: 'loud' };
    const { exitCode, stdout, stderr } = await millrace(['orgs', 'list', '--json'], { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    const { error } = JSON.parse(stderr) as { error: { code: string; details: string[] } };
    expect(error.code).toBe('invalid_config');
    expect(error.details).toHaveLength(2);
  });
});

describe('without a running service', () => {
  it('says so, and how to start one', async () => {
    const env = { MILLRACE_DATA_DIR: folder };
    const plain = await millrace(['orgs', 'list'], { env });
    expect(plain).toMatchObject({ exitCode: 1, stdout: '' });
    expect(plain.stderr).toContain(folder);
    expect(plain.stderr).toContain('npx millrace start');
    const asJson = await millraceProcess(['orgs', 'list', '--json'], { env });
    expect(asJson).toMatchObject({ exitCode: 1, stdout: '' });
    expect(JSON.parse(asJson.stderr)).toMatchObject({ error: { code: 'not_running' } });
  });

  it("doesn't show the password of an unreachable database", async () => {
    const env = { DATABASE_URL: 'postgresql://millrace:sesame@127.0.0.1:1/millrace' };
    const { exitCode, stderr } = await millrace(['orgs', 'list'], { env });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('DATABASE_URL');
    expect(stderr).not.toContain('sesame');
  });
});

describe("a standard output that can't be written", () => {
  const shell = promisify(execFile);
  const output = async (words: string) =>
    await shell('sh', ['-c', words, process.execPath, await builtCommand()]);

  it('is reported if its disk is full', async () => {
    const failure = await output('"$0" "$1" --help > /dev/full').catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: Standard output could not be written: the disk is full\..*\n$/),
    });
  });

  it('is no failure if its reader has gone, or if it was closed', async () => {
    const { stderr } = await output('{ "$0" "$1" --help; echo "code $?" >&2; } | :');
    expect(stderr).toBe('code 0\n');
    expect(await output('"$0" "$1" --help >&-')).toEqual({ stdout: '', stderr: '' });
  });
});

describe('help and version', () => {
  it('prints help on request', async () => {
    const { exitCode, stdout } = await millrace(['--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Exit codes');
  });

  it('prints the version', async () => {
    expect(await millraceProcess(['--version'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });
});
