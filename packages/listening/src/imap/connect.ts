import {
  type AccessToken,
  findFiles,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ListenSourceOf,
  ServiceError,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import type { FetchMessageObject, ImapFlow, SearchObject } from 'imapflow';
import type { Batch, ConnectContext, Connection, Received } from '../source.ts';
import { type ImapLogin, MAX_MAIL_BYTES, openImap, toImapError } from './client.ts';

type Context = ConnectContext<ListenSourceOf<'imap'>>;

/** Mails at once, each of which may take a while to read and store. */
const MAX_MAILS = 10;
/** Bytes of the mails that are started together; one may be larger. */
const MAX_BATCH_TEXT = 4 * 1024 * 1024;
const PARSE_MS = 30_000;
/** A look at the folder even if the server says nothing. */
const LOOK_MS = 300_000;

/** Where reading continues: the newest message that was looked at, in this generation of the folder. */
interface Position {
  readonly uid_validity: string;
  readonly uid: number;
}

/** Connects to a mailbox and waits for mails in a folder. */
export async function connectToMailbox(context: Context): Promise<Connection> {
  const { client, login } = await signIn(context);
  const mailbox = new Mailbox(client, context, login);
  await mailbox.open();
  return mailbox;
}

type SignedIn = { readonly client: ImapFlow; readonly login: ImapLogin };

/** With the password, or with the token that the credential has now, and once more with another if the server doesn't accept it. */
async function signIn({ source, credentials, sockets, signal }: Context): Promise<SignedIn> {
  const { credentialId, oauth } = source;
  if (oauth === null) {
    const login = await credentials.open(credentialId, { types: ['imap'] });
    return { client: await openImap(sockets, login, signal), login };
  }
  const { mailbox: username, host, port } = oauth;
  const url = `https://${host}:${port}/`;
  const attempt = async ({ text: accessToken }: AccessToken): Promise<SignedIn> => {
    const login = { host, port, security: 'tls', username, accessToken } as const;
    return { client: await openImap(sockets, login, signal), login };
  };
  const token = await credentials.token(credentialId, { url }, signal);
  if (token === null) throw new Error('a token is only missing after it was refused');
  try {
    return await attempt(token);
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'imap_auth_failed')) throw error;
    const next = await credentials.token(credentialId, { url, refused: token }, signal);
    if (next === null) throw error;
    return await attempt(next);
  }
}

class Mailbox implements Connection {
  readonly #client: ImapFlow;
  readonly #context: Context;
  readonly #login: ImapLogin;
  #position: Position = { uid_validity: '', uid: 0 };
  #wake: () => void = () => undefined;
  /** Whether the server has spoken of new messages since they were last looked for. */
  #isDue = false;

  constructor(client: ImapFlow, context: Context, login: ImapLogin) {
    this.#client = client;
    this.#context = context;
    this.#login = login;
  }

  get position(): JsonValue {
    return { ...this.#position };
  }

  async open(): Promise<void> {
    const { source, unacknowledged } = this.#context;
    const note = (): void => {
      this.#isDue = true;
      this.#wake();
    };
    this.#client.on('exists', note).on('close', note);
    const mailbox = await this.#client
      .mailboxOpen(source.folder, { readOnly: source.after === 'nothing' })
      .catch((error: unknown) => {
        throw this.#folderError(error, source.folder);
      });
    const validity = String(mailbox.uidValidity);
    this.#position = beginAt(this.#context, {
      uid_validity: validity,
      uid: Math.max(0, mailbox.uidNext - 1),
    });
    await this.acknowledge(unacknowledged);
  }

  async next(): Promise<Batch> {
    for (;;) {
      this.#isDue = false;
      const found = await this.#within(this.#find());
      if (found.length > 0) return await this.#read(found);
      await this.#wait();
    }
  }

  async acknowledge(ids: readonly string[]): Promise<void> {
    const { after, moveTo } = this.#context.source;
    const prefix = `${this.#position.uid_validity}:`;
    const uids = ids.filter((id) => id.startsWith(prefix)).map((id) => Number(id.slice(prefix.length)));
    if (uids.length === 0 || after === 'nothing') return;
    const range = uids.join(',');
    if (after === 'seen') {
      await this.#within(this.#client.messageFlagsAdd(range, ['\\Seen'], { uid: true }));
      return;
    }
    const moved = await this.#within(this.#client.messageMove(range, moveTo, { uid: true }));
    // One that was moved before, or deleted by somebody, isn't moved either.
    if (moved !== false) return;
    throw this.#client.usable ? this.#folderError(null, moveTo) : this.#closed();
  }

  async close(): Promise<void> {
    if (this.#client.usable) await this.#client.logout();
    this.#client.close();
  }

  /** UIDs of the messages to look at next, the oldest first. */
  async #find(): Promise<readonly number[]> {
    const { onlyUnseen, from, subject } = this.#context.source;
    const query: SearchObject = {
      uid: `${this.#position.uid + 1}:*`,
      ...(onlyUnseen ? { seen: false } : {}),
      ...(from === '' ? {} : { from }),
      ...(subject === '' ? {} : { subject }),
    };
    const found = await this.#client.search(query, { uid: true });
    if (!Array.isArray(found)) {
      throw new ServiceError(
        'imap_search_failed',
        message('ports.imap_search_refused', { host: this.#login.host }),
      );
    }
    // `n:*` includes the newest message even if its UID is less than n.
    return found.filter((uid) => uid > this.#position.uid).toSorted((a, b) => a - b);
  }

  async #read(uids: readonly number[]): Promise<Batch> {
    const messages: Received[] = [];
    let bytes = 0;
    let last = this.#position.uid;
    for (const uid of uids.slice(0, MAX_MAILS)) {
      const read = await this.#readOne(uid);
      last = uid;
      if (read !== null) messages.push(read.received);
      bytes += read?.bytes ?? 0;
      if (bytes > MAX_BATCH_TEXT) break;
    }
    this.#position = { ...this.#position, uid: last };
    return { messages, position: this.position };
  }

  /** @returns null if it is gone */
  async #readOne(uid: number): Promise<{ readonly received: Received; readonly bytes: number } | null> {
    const about = await this.#within(
      this.#client.fetchOne(
        String(uid),
        { uid: true, size: true, internalDate: true, envelope: true },
        { uid: true },
      ),
    );
    if (!about) return null;
    const size = about.size ?? 0;
    const content = size > MAX_MAIL_BYTES ? tooLarge(about) : await this.#contentOf(uid);
    if (content === null) return null;
    const data: JsonObject = { uid, received_at: timeOf(about.internalDate), size, ...content };
    const files = findFiles([data]).map(({ id }) => id);
    const received = {
      id: `${this.#position.uid_validity}:${uid}`,
      data,
      ...(files.length === 0 ? {} : { files }),
    };
    return { received, bytes: JSON.stringify(content).length };
  }

  async #contentOf(uid: number): Promise<JsonObject | null> {
    const { contents, signal, saveFile, source } = this.#context;
    const fetched = await this.#within(this.#client.fetchOne(String(uid), { source: true }, { uid: true }));
    if (!fetched || fetched.source === undefined) return null;
    const raw = fetched.source;
    const order = {
      task: { kind: 'read_mail', attachments: source.attachments },
      inputs: [inputOf(raw)],
      save: saveFile,
      timeoutMs: PARSE_MS,
    } as const;
    try {
      const mail = await contents.work(order, signal);
      return isJsonObject(mail) ? { ...mail, error: null } : null;
    } catch (error) {
      // A mail that can't be read starts its workflow all the same: else it would be lost, or keep the others waiting for ever.
      if (error instanceof ServiceError && UNREADABLE.includes(error.code)) {
        return { ...EMPTY, error: error.message, is_truncated: true };
      }
      throw error;
    }
  }

  /** Until the server speaks of new messages, or it is time to look. */
  async #wait(): Promise<void> {
    const idles = this.#client.capabilities.has('IDLE');
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, idles ? LOOK_MS : this.#context.source.intervalMs);
    try {
      if (this.#isDue) return;
      if (idles) this.#client.idle().catch(() => resolve());
      await promise;
      if (!this.#client.usable) throw this.#closed();
      if (!idles) await this.#within(this.#client.noop());
    } finally {
      clearTimeout(timer);
      this.#wake = () => undefined;
    }
  }

  async #within<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      throw toImapError(error, this.#login);
    }
  }

  #closed(): Error {
    return toImapError(new Error('the server closed the connection'), this.#login);
  }

  #folderError(error: unknown, folder: string): Error {
    const refused = error === null || (error as { readonly responseStatus?: string }).responseStatus === 'NO';
    if (!refused) return toImapError(error, this.#login);
    return new ServiceError(
      'imap_folder_failed',
      message('ports.imap_folder', { folder, host: this.#login.host }),
    );
  }
}

/** A new generation of the folder has other UIDs: what was processed can only be told where that left a mark. */
function beginAt({ position, source }: Context, newest: Position): Position {
  if (
    isJsonObject(position) &&
    position.uid_validity === newest.uid_validity &&
    typeof position.uid === 'number'
  ) {
    return { uid_validity: newest.uid_validity, uid: position.uid };
  }
  const marks = source.after === 'move' || (source.after === 'seen' && source.onlyUnseen);
  const reads = position === null ? source.existing === 'start' : marks;
  return reads ? { ...newest, uid: 0 } : newest;
}

const UNREADABLE = ['invalid_data', 'document_timeout', 'document_memory', 'document_output_too_large'];

const EMPTY = {
  ...{
    message_id: null,
    in_reply_to: null,
    from: null,
    to: [],
    cc: [],
    reply_to: [],
    subject: '',
    date: null,
  },
  ...{ text: null, html: null, attachments: [], is_truncated: false, error: null },
} satisfies JsonObject;

function tooLarge({ envelope }: FetchMessageObject): JsonObject {
  const from = envelope?.from?.[0];
  return {
    ...EMPTY,
    message_id: envelope?.messageId ?? null,
    from: from === undefined ? null : { name: from.name ?? '', address: from.address ?? '' },
    subject: envelope?.subject ?? '',
    date: timeOf(envelope?.date),
    is_truncated: true,
    error: `The mail is larger than ${MAX_MAIL_BYTES} bytes; only its header was read.`,
  };
}

function timeOf(at: Date | string | undefined): string | null {
  const time = new Date(at ?? '');
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

function inputOf(raw: Uint8Array) {
  return {
    ...{ name: 'mail.eml', type: 'message/rfc822', size: raw.byteLength, sha256: '' },
    async *read(range?: { readonly start: number; readonly end: number }): AsyncGenerator<Uint8Array> {
      yield range === undefined ? raw : raw.subarray(range.start, range.end + 1);
    },
  };
}
