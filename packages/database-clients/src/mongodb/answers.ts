import { ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Document } from 'bson';
import type { MongoConnection } from './wire.ts';

const DENIED = [13, 18, 8000];
const SIGN_IN = 18;
const TOO_LATE = [50, 262];
/** The server is stepping down, starting, or not the primary. */
const PASSING = [6, 7, 89, 91, 189, 9001, 10107, 11600, 11602, 13435, 13436];

/** An answer that says no. */
export class MongoRefusal extends Error {
  readonly code: number;

  constructor(answer: Document) {
    super(String(answer.errmsg ?? 'no reason given'));
    this.code = Number(answer.code ?? 0);
  }

  get isSignIn(): boolean {
    return this.code === SIGN_IN;
  }

  /** For a workflow's author. */
  explained(where: string, timeoutMs: number): ServiceError {
    const { code } = this;
    const details = { code };
    if (DENIED.includes(code)) {
      const said = message('ports.mongodb_auth', { host: where, said: this.message });
      return new ServiceError('db_auth_failed', said, { details });
    }
    if (TOO_LATE.includes(code)) {
      return new ServiceError('db_timeout', message('ports.db_timeout', { ms: timeoutMs }), {
        retryable: true,
      });
    }
    if (PASSING.includes(code)) {
      const said = message('ports.cannot_run_now', { host: where, reason: this.message });
      return new ServiceError('db_unavailable', said, { retryable: true, details });
    }
    return new ServiceError('db_error', message('ports.mongodb_error', { said: this.message, code }), {
      details,
    });
  }
}

function isOk(answer: Document): boolean {
  return Number(answer.ok) === 1;
}

/** Sends a command. @throws MongoRefusal */
export async function callOk(connection: MongoConnection, command: Document): Promise<Document> {
  const answer = await connection.call(command);
  if (!isOk(answer)) throw new MongoRefusal(answer);
  return answer;
}

/** @throws MongoRefusal also if only some of what was to be written was */
export function checkWrite(answer: Document): void {
  if (!isOk(answer)) throw new MongoRefusal(answer);
  const [first] = (answer.writeErrors ?? []) as Document[];
  if (first !== undefined) throw new MongoRefusal(first);
  const concern = answer.writeConcernError as Document | undefined;
  if (concern !== undefined) throw new MongoRefusal(concern);
}
