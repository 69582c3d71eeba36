import type { CredentialOf, MailMessage, MailService } from '@millrace/engine';
import nodemailer from 'nodemailer';
import type { GuardedSockets } from '../outbound/guarded-socket.ts';
import { toMailError } from './mail/errors.ts';
import type { Caller } from './services.ts';

export interface MailDeps {
  /** The way out of an organisation. */
  readonly sockets: (organisationId: number) => GuardedSockets;
  /** Longest silence of a server, in milliseconds. Default 30,000. */
  readonly silenceMs?: number;
}

const SILENCE_MS = 30_000;

/**
 * Sends by SMTP (RFC 5321) with nodemailer, over guarded sockets: one connection for each message. With `tls` and `starttls`
 * nothing is sent before the connection is encrypted and the server's certificate is one for the credential's host.
 */
export function createMailService({
  sockets,
  silenceMs = SILENCE_MS,
}: MailDeps): (caller: Caller) => MailService {
  const serviceOf = (organisationId: number): MailService => ({
    async send(credential, message, signal) {
      try {
        const { host, port } = credential;
        const socket = await sockets(organisationId).connect({ host, port }, signal);
        const transport = nodemailer.createTransport({
          ...connectionOptions(credential, silenceMs),
          connection: socket,
          // Contents are given as bytes; a path or an address among them must not be read.
          disableFileAccess: true,
          disableUrlAccess: true,
        });
        try {
          const info = await transport.sendMail({ ...mailOf(message), signal });
          return {
            accepted: info.accepted.map(textOf),
            rejected: info.rejected.map(textOf),
            response: info.response,
          };
        } finally {
          transport.close();
          socket.destroy();
        }
      } catch (error) {
        throw toMailError(error, credential, signal);
      }
    },
  });
  return (caller) => serviceOf(caller.organisationId);
}

function connectionOptions(
  { host, port, security, username, password }: CredentialOf<'smtp'>,
  silenceMs: number,
) {
  return {
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    ...(username === null ? {} : { auth: { user: username, pass: password ?? '' }, forceAuth: true }),
  };
}

function mailOf(message: MailMessage) {
  const { from, to, cc, bcc, replyTo, subject, text, html, headers, attachments, messageId } = message;
  return {
    from,
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    subject,
    headers,
    messageId,
    ...(replyTo === null ? {} : { replyTo }),
    ...(text === null ? {} : { text }),
    ...(html === null ? {} : { html }),
    attachments: attachments.map(({ filename, contentType, content }) => ({
      filename,
      contentType,
      content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
    })),
  };
}

function textOf(address: string | { readonly address: string }): string {
  return typeof address === 'string' ? address : address.address;
}
