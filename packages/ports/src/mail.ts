import type { Socket } from 'node:net';
import { cutOnAbort } from '@millrace/egress/cut-on-abort';
import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import type { CredentialOf, MailMessage, MailServer, MailService } from '@millrace/engine';
import type { Caller } from '@millrace/runtime/node-services';
import { countedSockets } from './counted-sockets.ts';
import { toMailError } from './mail/errors.ts';

export interface MailDeps {
  /** Egress of an organisation. */
  readonly sockets: (organisationId: number) => GuardedSockets;
  /** How long a server may be silent, in milliseconds. Default 30,000. */
  readonly silenceMs?: number;
}

const SILENCE_MS = 30_000;

/**
 * Sends by SMTP (RFC 5321) with nodemailer over guarded sockets, with one connection per message. With `tls` and `starttls`
 * nothing is sent before the connection is encrypted and the server's certificate matches the credential's host.
 */
export function createMailService({
  sockets,
  silenceMs = SILENCE_MS,
}: MailDeps): (caller: Caller) => MailService {
  return (caller) => ({
    send: (credential, message, signal) =>
      withServer(
        countedSockets(sockets, caller),
        credential,
        { silenceMs, signal },
        async ({ transport }) => {
          const info = await transport.sendMail({ ...mailOf(message), signal });
          return {
            accepted: info.accepted.map(textOf),
            rejected: info.rejected.map(textOf),
            response: info.response,
          };
        },
      ),
  });
}

/**
 * Connects to the credential's server, encrypted as configured, and signs in without sending a message.
 * @throws ServiceError mail_*
 */
export async function signInToMailServer(
  sockets: GuardedSockets,
  credential: CredentialOf<'smtp'>,
  signal: AbortSignal,
): Promise<void> {
  await withServer(sockets, credential, { silenceMs: SILENCE_MS, signal }, ({ transport, socket }) =>
    cutOnAbort(
      signal,
      () => socket.destroy(),
      () => transport.verify(),
    ),
  );
}

/** Opens a connection to the credential's server for some work, then closes it. */
async function withServer<Result>(
  sockets: GuardedSockets,
  credential: MailServer,
  { silenceMs, signal }: { readonly silenceMs: number; readonly signal: AbortSignal },
  work: (open: { readonly transport: Transport; readonly socket: Socket }) => Promise<Result>,
): Promise<Result> {
  try {
    // Loaded at first use, because it takes memory, and before the socket is there, whose events it hears.
    const { default: library } = await import('nodemailer');
    const { host, port } = credential;
    const socket = await sockets.connect({ host, port }, signal);
    const transport = createTransport(library, credential, socket, silenceMs);
    try {
      return await work({ transport, socket });
    } finally {
      transport.close();
      socket.destroy();
    }
  } catch (error) {
    throw toMailError(error, credential, signal);
  }
}

type Library = typeof import('nodemailer')['default'];
type Transport = ReturnType<typeof createTransport>;

function createTransport(library: Library, credential: MailServer, socket: Socket, silenceMs: number) {
  return library.createTransport({
    ...connectionOptions(credential, silenceMs),
    connection: socket,
    // Content is passed as bytes; a path or a URL in it must not be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function connectionOptions(
  { host, port, security, username, password, accessToken }: MailServer,
  silenceMs: number,
) {
  // Without a refresh token the library only uses this one, and asks nobody for another.
  const login =
    accessToken === undefined
      ? { user: username ?? '', pass: password ?? '' }
      : { type: 'OAuth2' as const, user: username ?? '', accessToken };
  return {
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    ...(username === null ? {} : { auth: login, forceAuth: true }),
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
