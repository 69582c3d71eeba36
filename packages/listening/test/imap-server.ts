import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export interface StoredMail {
  readonly uid: number;
  readonly raw: string;
  readonly flags: Set<string>;
}

/** As much of IMAP4rev1 (RFC 3501) as a client needs that reads mails: one mailbox with folders, IDLE (RFC 2177) and MOVE (RFC 6851). */
export class ImapServer {
  readonly folders = new Map<string, StoredMail[]>([['INBOX', []]]);
  /** Commands in their order, without tags. */
  readonly commands: string[] = [];
  capabilities = 'IMAP4rev1 IDLE MOVE UIDPLUS';
  uidValidity = 1;
  /** Called before a command is answered; what it returns is awaited. */
  before: (command: string) => Promise<void> | void = () => undefined;
  readonly #server: Server;
  readonly #sessions = new Set<Session>();
  #uid = 0;

  /** Tokens that are accepted. */
  readonly tokens = new Set<string>();

  private constructor(tls?: { readonly cert: string; readonly key: string }) {
    const serve = (socket: Socket): void => {
      const session = new Session(this, socket);
      this.#sessions.add(session);
      socket.on('close', () => this.#sessions.delete(session));
    };
    this.#server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  }

  static async start(tls?: { readonly cert: string; readonly key: string }): Promise<ImapServer> {
    const made = new ImapServer(tls);
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#sessions.size;
  }

  /** A mail arrives, of which clients that wait are told. */
  deliver(raw: string, folder = 'INBOX', flags: readonly string[] = []): number {
    this.#uid += 1;
    this.mails(folder).push({ uid: this.#uid, raw: raw.replaceAll(/\r?\n/g, '\r\n'), flags: new Set(flags) });
    for (const session of this.#sessions) session.tell(folder);
    return this.#uid;
  }

  mails(folder = 'INBOX'): StoredMail[] {
    const mails = this.folders.get(folder) ?? [];
    this.folders.set(folder, mails);
    return mails;
  }

  get nextUid(): number {
    return this.#uid + 1;
  }

  drop(): void {
    for (const session of this.#sessions) session.end();
  }

  async stop(): Promise<void> {
    this.drop();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

class Session {
  readonly #server: ImapServer;
  readonly #socket: Socket;
  #folder: string | null = null;
  #idleTag: string | null = null;
  #text = '';
  #work: Promise<void> = Promise.resolve();

  constructor(server: ImapServer, socket: Socket) {
    this.#server = server;
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      this.#text += piece.toString('latin1');
      for (let at = this.#text.indexOf('\r\n'); at >= 0; at = this.#text.indexOf('\r\n')) {
        const line = this.#text.slice(0, at);
        this.#text = this.#text.slice(at + 2);
        this.#work = this.#work.then(() => this.#take(line));
      }
    });
    this.#say(`* OK [CAPABILITY ${server.capabilities}] ready`);
  }

  tell(folder: string): void {
    if (folder === this.#folder && this.#idleTag !== null) this.#say(`* ${this.#mails.length} EXISTS`);
  }

  end(): void {
    this.#socket.destroy();
  }

  get #mails(): StoredMail[] {
    return this.#server.mails(this.#folder ?? 'INBOX');
  }

  #say(line: string): void {
    if (!this.#socket.destroyed) this.#socket.write(Buffer.from(`${line}\r\n`, 'latin1'));
  }

  async #take(line: string): Promise<void> {
    if (this.#idleTag !== null && line === 'DONE') {
      this.#say(`${this.#idleTag} OK`);
      this.#idleTag = null;
      return;
    }
    const [, tag = '', command = ''] = /^(\S+) (.*)$/.exec(line) ?? [];
    this.#server.commands.push(command);
    await this.#server.before(command);
    this.#run(tag, command);
  }

  #run(tag: string, command: string): void {
    const [name = ''] = /^(?:UID )?\w+/i.exec(command) ?? [];
    const rest = command.slice(name.length + 1);
    const ok = (more = ''): void => this.#say(`${tag} OK${more === '' ? '' : ` ${more}`}`);
    switch (name.toUpperCase()) {
      case 'CAPABILITY':
        this.#say(`* CAPABILITY ${this.#server.capabilities}`);
        ok();
        return;
      case 'LOGIN':
        if (/canary-pass/.test(rest)) ok();
        else this.#say(`${tag} NO [AUTHENTICATIONFAILED] ${rest}`);
        return;
      case 'AUTHENTICATE': {
        const said = Buffer.from(rest.replace('XOAUTH2 ', ''), 'base64').toString();
        const [user, bearer = '', ...end] = said.split('\x01');
        const isKnown = this.#server.tokens.has(bearer.replace('auth=Bearer ', ''));
        if (user === 'user=orders@example.com' && isKnown && end.join() === ',') ok();
        else this.#say(`${tag} NO [AUTHENTICATIONFAILED] ${said}`);
        return;
      }
      case 'LIST':
        if (/^"" ""$/.test(rest)) this.#say('* LIST (\\Noselect) "/" ""');
        else for (const folder of this.#server.folders.keys()) this.#say(`* LIST () "/" "${folder}"`);
        ok();
        return;
      case 'SELECT':
      case 'EXAMINE': {
        const folder = unquoted(rest);
        if (!this.#server.folders.has(folder)) {
          this.#say(`${tag} NO no such folder`);
          return;
        }
        this.#folder = folder;
        this.#say(`* ${this.#mails.length} EXISTS`);
        this.#say(`* OK [UIDVALIDITY ${this.#server.uidValidity}]`);
        this.#say(`* OK [UIDNEXT ${this.#server.nextUid}]`);
        ok('[READ-WRITE] selected');
        return;
      }
      case 'UID SEARCH': {
        this.#say(
          `* SEARCH ${this.#search(rest)
            .map(({ uid }) => uid)
            .join(' ')}`.trimEnd(),
        );
        ok();
        return;
      }
      case 'UID FETCH':
        for (const mail of this.#named(rest)) this.#fetch(mail, /BODY(\.PEEK)?\[\]/.test(rest));
        ok();
        return;
      case 'UID STORE':
        for (const mail of this.#named(rest)) mail.flags.add('\\Seen');
        ok();
        return;
      case 'UID MOVE': {
        const folder = unquoted(rest.split(' ').slice(1).join(' '));
        if (!this.#server.folders.has(folder)) {
          this.#say(`${tag} NO no such folder`);
          return;
        }
        for (const mail of this.#named(rest)) {
          this.#mails.splice(this.#mails.indexOf(mail), 1);
          this.#server.mails(folder).push(mail);
        }
        ok();
        return;
      }
      case 'IDLE':
        this.#idleTag = tag;
        this.#say('+ idling');
        return;
      case 'LOGOUT':
        this.#say('* BYE');
        ok();
        this.#socket.end();
        return;
      default:
        ok();
    }
  }

  #search(query: string): StoredMail[] {
    const from = Number(/UID (\d+)/.exec(query)?.[1] ?? 1);
    const subject = /SUBJECT "?([^" ]+)/.exec(query)?.[1];
    // `n:*` always has the newest one.
    const newest = this.#mails.at(-1);
    return this.#mails.filter(
      (mail) =>
        (mail.uid >= from || mail === newest) &&
        (!query.includes('UNSEEN') || !mail.flags.has('\\Seen')) &&
        (subject === undefined || new RegExp(`^subject:.*${subject}`, 'im').test(mail.raw)),
    );
  }

  #named(rest: string): StoredMail[] {
    const uids = (rest.split(' ')[0] ?? '').split(',').map(Number);
    return this.#mails.filter(({ uid }) => uids.includes(uid));
  }

  #fetch(mail: StoredMail, hasBody: boolean): void {
    const at = this.#mails.indexOf(mail) + 1;
    const bytes = Buffer.from(mail.raw, 'latin1');
    const about = `UID ${mail.uid} RFC822.SIZE ${bytes.byteLength} FLAGS (${[...mail.flags].join(' ')}) INTERNALDATE "02-Jan-2026 09:00:00 +0000"`;
    if (hasBody) this.#say(`* ${at} FETCH (${about} BODY[] {${bytes.byteLength}}\r\n${mail.raw})`);
    else
      this.#say(
        `* ${at} FETCH (${about} ENVELOPE ("Fri, 2 Jan 2026 09:00:00 +0000" "subject" NIL NIL NIL NIL NIL NIL NIL "<1@x>"))`,
      );
  }
}

function unquoted(text: string): string {
  return text.trim().replaceAll('"', '');
}
