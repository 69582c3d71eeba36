import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A received message. */
export interface ReceivedMail {
  /** Envelope addresses, including blind copies. */
  readonly to: readonly string[];
  readonly from: string;
  /** By lower-case name, unfolded. */
  readonly headers: { readonly [name: string]: string };
  readonly subject: string;
  /** The plain-text part, decoded. */
  readonly text: string;
  /** The names of attached files. */
  readonly attachments: readonly string[];
}

/** A real SMTP server on loopback that requires a user name and a password. */
export interface MailServer {
  /** Fields of a valid credential of type `smtp`. */
  readonly credential: {
    readonly host: string;
    readonly port: number;
    readonly security: 'none';
    readonly username: string;
    readonly password: string;
  };
  readonly received: readonly ReceivedMail[];
  /** Refuses this many of the next deliveries temporarily (451). */
  refuse(count: number): void;
  forget(): void;
  close(): Promise<void>;
}

export async function openMailServer(): Promise<MailServer> {
  let received: ReceivedMail[] = [];
  let refusals = 0;
  const account = { username: 'mailer', password: 'letters-by-night' };
  const server = new SMTPServer({
    logger: false,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, callback) =>
      username === account.username && password === account.password
        ? callback(null, { user: username })
        : callback(new Error('Authentication failed')),
    onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (refusals > 0) {
          refusals -= 1;
          callback(Object.assign(new Error('Try again later'), { responseCode: 451 }));
          return;
        }
        const { mailFrom, rcptTo } = envelope;
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          ...readMessage(Buffer.concat(chunks).toString('latin1')),
        });
        callback(null, 'queued');
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    credential: { host: '127.0.0.1', port, security: 'none', ...account },
    get received() {
      return received;
    },
    refuse(count) {
      refusals = count;
    },
    forget() {
      received = [];
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** @param source one byte per character */
function readMessage(source: string): Pick<ReceivedMail, 'headers' | 'subject' | 'text' | 'attachments'> {
  const message = splitPart(source);
  const boundary = /boundary="?([^";]+)"?/i.exec(message.headers['content-type'] ?? '')?.[1];
  const parts =
    boundary === undefined ? [message] : message.body.split(`--${boundary}`).slice(1).map(splitPart);
  const plain = parts.find(({ headers }) => /^text\/plain/i.test(headers['content-type'] ?? 'text/plain'));
  return {
    headers: message.headers,
    subject: decodeWords(message.headers.subject ?? ''),
    text: plain === undefined ? '' : decodeBody(plain).replaceAll('\r\n', '\n'),
    attachments: parts.flatMap(({ headers }) => {
      const name = /^attachment;.*filename="?([^";]+)"?/i.exec(headers['content-disposition'] ?? '')?.[1];
      return name === undefined ? [] : [name];
    }),
  };
}

interface Part {
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

function splitPart(source: string): Part {
  const [head = '', ...rest] = source.replace(/^\r\n/, '').split('\r\n\r\n');
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const at = line.indexOf(':');
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
  });
  return { headers: Object.fromEntries(headers), body: rest.join('\r\n\r\n') };
}

function decodeBody({ headers, body }: Part): string {
  switch (headers['content-transfer-encoding']?.toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64').toString('utf8');
    case 'quoted-printable':
      return decodeQuoted(body.replaceAll(/=\r\n/g, ''));
    default:
      return Buffer.from(body, 'latin1').toString('utf8');
  }
}

function decodeQuoted(text: string): string {
  const bytes = text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** RFC 2047. */
function decodeWords(text: string): string {
  return text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString('utf8')
        : decodeQuoted(word.replaceAll('_', ' ')),
    );
}
