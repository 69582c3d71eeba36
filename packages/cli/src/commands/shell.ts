import { styleText } from 'node:util';
import { ApiError } from '@millrace/errors/errors';
import { AccountError } from '@millrace/identity/values/account-error';
import { inEnglish } from '@millrace/messages/english';
import { BackupError } from '@millrace/operations/backup/errors';
import { SecretError } from '@millrace/secrets/errors';
import { CommanderError } from 'commander';
import { ConfigError } from '../settings/config.ts';

/** The result of a command: the same for programs and for people. */
export interface CommandResult {
  /** One JSON value, printed by `--json`. */
  readonly json: unknown;
  /** Printed otherwise, followed by a newline. */
  readonly text: string;
  /** Part of the work couldn't be done, as the result says; the exit code is 1. */
  readonly isFailure?: boolean;
}

/** The command failed, and its result has already said how. */
export class ReportedFailure extends Error {
  override readonly name = 'ReportedFailure';
}

/** Exit codes of every command. */
const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** The arguments after `millrace` are invalid; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The command was valid but couldn't be carried out; the exit code is 1. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

type Paint = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colours the text if standard output is a terminal that supports colours. */
export function paint(style: Paint, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/**
 * Names and messages come from workflows and other servers: characters that would move the cursor, retitle the window or change the writing
 * direction become blanks. Colours and newlines are kept.
 */
export function harmless(text: string): string {
  return text.replace(/\p{Cc}\[[\d;]*m|[\p{Cc}\p{Bidi_Control}]/gu, (found) =>
    found === '\n' || (found.length > 1 && found.startsWith('\u001b')) ? found : ' ',
  );
}

/** Prints a result on standard output; waits until a slow reader has consumed it. */
export async function printResult(result: CommandResult, asJson: boolean): Promise<void> {
  const text = asJson ? indentedJson(result.json) : harmless(result.text);
  if (text === '') return;
  await new Promise<void>((resolve) => {
    process.stdout.write(`${text}\n`, () => resolve());
  });
}

/** Human-readable JSON: two spaces, numbers kept exactly. */
export function indentedJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/**
 * Prints an error on standard error, as `{"error": {"code", "message"}}` if the command has `--json`; standard output stays empty. Returns
 * the exit code.
 */
export function printError(error: unknown, asJson: boolean): number {
  if (error instanceof ReportedFailure) return EXIT.failed;
  const { code, message, details, exit } = explain(error);
  if (exit === EXIT.done) return exit;
  if (asJson) {
    const body = { code, message, ...(details.length === 0 ? {} : { details }) };
    process.stderr.write(`${JSON.stringify({ error: body })}\n`);
  } else if (message !== '') {
    const lines = [message, ...details.map((detail) => `  ${detail}`)];
    process.stderr.write(
      `${styleText('red', 'error:', { stream: process.stderr })} ${harmless(lines.join('\n'))}\n`,
    );
  }
  return exit;
}

/** Errors with a message for the user from modules too heavy to load for every command. */
const CODE_OF_NAME: ReadonlyMap<string, string> = new Map([
  ['DatabaseUnavailableError', 'database_unavailable'],
  ['DataFolderInUseError', 'data_folder_in_use'],
  ['EmbeddedPostgresError', 'embedded_postgres'],
  ['ListenError', 'cannot_listen'],
  ['MigrationError', 'migration'],
  ['RolesError', 'database_url_needed'],
  ['UnsuitableDatabaseError', 'unsuitable_database'],
]);

interface Explanation {
  readonly code: string;
  readonly message: string;
  readonly details: readonly string[];
  readonly exit: number;
}

function explain(error: unknown): Explanation {
  if (error instanceof CommanderError) {
    const shown = error.exitCode === 0;
    // Commander has already printed the help text if that is the result.
    const message = error.code === 'commander.help' ? '' : error.message.replace(/^error: /, '');
    return { code: 'usage', message, details: [], exit: shown ? EXIT.done : EXIT.usage };
  }
  if (error instanceof UsageError) {
    return { code: error.code, message: error.message, details: [], exit: EXIT.usage };
  }
  if (error instanceof ConfigError) {
    return {
      code: 'invalid_config',
      message: 'The configuration is not valid.',
      details: error.problems,
      exit: EXIT.usage,
    };
  }
  if (error instanceof ApiError) {
    const details = (error.errors ?? []).map(
      ({ pointer, message }) => `${pointer === '' ? '/' : pointer}: ${inEnglish(message)}`,
    );
    const message = details.length === 0 ? error.message : 'Invalid input:';
    return { code: error.code, message, details, exit: EXIT.failed };
  }
  if (
    error instanceof AccountError ||
    error instanceof BackupError ||
    error instanceof RefusedError ||
    error instanceof SecretError
  ) {
    return { code: error.code, message: error.message, details: [], exit: EXIT.failed };
  }
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const code = CODE_OF_NAME.get(name);
  if (code !== undefined) return { code, message, details: [], exit: EXIT.failed };
  return { code: 'internal_error', message, details: stack?.split('\n').slice(1) ?? [], exit: EXIT.failed };
}
