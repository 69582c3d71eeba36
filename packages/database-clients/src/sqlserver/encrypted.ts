import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { tlsIdentity } from '@millrace/egress/guarded-socket';
import { MESSAGE, PacketReader, packetsOf } from './packets.ts';

type Mode = 'handshake' | 'encrypted' | 'plain';

/** What TLS writes to and reads from: during the handshake its bytes are messages of the protocol, afterwards the connection's. */
class Channel extends Duplex {
  readonly #socket: Socket;
  readonly #reader = new PacketReader([MESSAGE.preLogin, MESSAGE.answer]);
  #mode: Mode = 'handshake';
  #onPlain: (bytes: Buffer) => void = () => undefined;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  /** The handshake is over. */
  encrypt(): void {
    this.#mode = 'encrypted';
  }

  /** What arrives from now on isn't encrypted. */
  receivePlain(onPlain: (bytes: Buffer) => void): void {
    this.#mode = 'plain';
    this.#onPlain = onPlain;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(bytes: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(
      this.#mode === 'handshake' ? packetsOf(MESSAGE.preLogin, bytes) : Buffer.from(bytes),
      done,
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #receive(bytes: Buffer): void {
    if (this.#mode === 'plain') this.#onPlain(bytes);
    else if (this.#mode === 'encrypted') this.#pass(bytes);
    else {
      try {
        this.#reader.read(bytes, (payload) => this.#pass(payload));
      } catch (error) {
        this.destroy(error as Error);
      }
    }
  }

  #pass(bytes: Buffer): void {
    if (bytes.length > 0 && !this.push(bytes)) this.#socket.pause();
  }
}

export interface Encrypted {
  readonly stream: TLSSocket;
  /** From now on only what is written is encrypted. */
  receivePlain(onPlain: (bytes: Buffer) => void): void;
}

/** TLS whose handshake is inside the protocol (MS-TDS 3.2.5.2). It has no way to go beyond TLS 1.2. */
export function encrypt(socket: Socket, host: string, isVerified: boolean): Promise<Encrypted> {
  const channel = new Channel(socket);
  const stream = connectTls({
    socket: channel,
    ...tlsIdentity(host),
    rejectUnauthorized: isVerified,
    maxVersion: 'TLSv1.2',
  });
  return new Promise((resolve, reject) => {
    stream.once('secureConnect', () => {
      channel.encrypt();
      resolve({ stream, receivePlain: (onPlain) => channel.receivePlain(onPlain) });
    });
    stream.on('error', reject);
    stream.once('close', () => reject(new Error('the server ended the connection during the TLS handshake')));
  });
}
