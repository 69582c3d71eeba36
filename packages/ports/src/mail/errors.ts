import { HttpClientError, type JsonObject, type MailServer, ServiceError } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { connectError } from '../connect-error.ts';

/** Fields of nodemailer's errors. */
interface MailFault {
  readonly code?: string;
  readonly responseCode?: number;
  readonly response?: string;
  readonly command?: string;
  readonly rejected?: readonly (string | { readonly address: string })[];
}

/**
 * Converts any error of sending to one that a workflow's author can read. RFC 5321: replies 4yz may be retried, 5yz may not.
 * After a rejected login the server's words are omitted, as they may repeat what it was sent.
 */
export function toMailError(error: unknown, credential: MailServer, signal: AbortSignal): Error {
  if (error instanceof ServiceError) return error;
  const { host, port, username, accessToken } = credential;
  const where = `${host}:${port}`;
  if (signal.aborted)
    return new ServiceError('aborted', message('ports.sending_aborted'), { retryable: true });
  if (error instanceof HttpClientError) return connectError(error, 'mail_connection_failed');
  if (!(error instanceof Error)) return new Error('sending failed', { cause: error });
  const fault = error as Error & MailFault;
  const status = fault.responseCode;
  const said = (fault.response ?? '').slice(0, 500);
  const isPassing = status !== undefined && status >= 400 && status < 500;
  const encryption = encryptionProblem(status, where, said);
  if (encryption !== null) return encryption;
  const reason = said || fault.message;
  const tlsFailed = message('ports.tls_failed', { host: where, reason: tlsReason(fault) });
  const refused = (code: string, explanation: Message, details?: JsonObject): ServiceError =>
    new ServiceError(code, explanation, {
      retryable: isPassing,
      ...(details === undefined ? {} : { details }),
    });
  switch (fault.code) {
    case 'EAUTH':
    case 'ENOAUTH': {
      const explanation =
        accessToken === undefined
          ? signInRefused(where, status, username === null)
          : message('ports.token_sign_in_refused', { host: where });
      return refused('mail_auth_failed', explanation, status === undefined ? undefined : { status });
    }
    case 'ETLS':
      return refused('mail_tls_failed', tlsFailed);
    case 'EENVELOPE': {
      const rejected = (fault.rejected ?? []).map(addressText);
      const details = { rejected, response: said, status: status ?? null };
      return refused('mail_rejected', message('ports.recipients_refused', { host: where, reason }), details);
    }
    case 'EMESSAGE':
    case 'EPROTOCOL': {
      const details = status === undefined ? undefined : { status, response: said };
      return refused('mail_refused', message('ports.mail_refused', { host: where, reason }), details);
    }
    case 'ECONNECTION':
    case 'ETIMEDOUT':
    case 'ESOCKET':
    case 'EDNS': {
      if (isCertificateFault(fault)) return new ServiceError('mail_tls_failed', tlsFailed);
      const failed = message('ports.connection_failed', { host: where, reason: fault.message });
      return new ServiceError('mail_connection_failed', failed, {
        retryable: status === undefined || isPassing,
      });
    }
    default:
      return error;
  }
}

/** Replies that demand encryption, to any command: 538 and 523 (RFC 4954, 5248), 530 before STARTTLS (RFC 3207). */
function encryptionProblem(status: number | undefined, where: string, said: string): ServiceError | null {
  const isAsked =
    status === 538 || status === 523 || (status === 530 && /starttls|5\.7\.(10|11)\b/i.test(said));
  if (!isAsked) return null;
  const explanation = message('ports.encryption_required', { host: where, status });
  return new ServiceError('mail_tls_failed', explanation, { details: { status } });
}

function signInRefused(host: string, status: number | undefined, isAnonymous: boolean): Message {
  if (isAnonymous) return message('ports.sign_in_required', { host });
  return status === undefined
    ? message('ports.sign_in_refused', { host })
    : message('ports.sign_in_refused_with', { host, status });
}

function isCertificateFault(error: Error): boolean {
  return /certificate|self.signed|altnames|ssl|tls/i.test(error.message);
}

/** The first line only; the rest of OpenSSL's messages names its own source files. */
function tlsReason(error: Error): string {
  return (error.message.split('\n')[0] ?? '').replace(/^[0-9A-F]+:error:.*?:.*?:/, '').slice(0, 200);
}

function addressText(address: string | { readonly address: string }): string {
  return typeof address === 'string' ? address : address.address;
}
