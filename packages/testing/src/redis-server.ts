import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { freePort } from './free-port.ts';

/** What a fake server says to a command: RESP, `silence`, or `cut` for the end of the connection. */
export type RedisSays = string | Buffer;

export interface FakeRedis {
  readonly port: number;
  /** Every command in order. */
  readonly commands: readonly (readonly string[])[];
  close(): Promise<void>;
}

const STAR = 0x2a;

/** A server that speaks RESP without a database: it reads commands as they were framed and says what it is told to. */
export async function startFakeRedis(
  says: (args: readonly string[]) => RedisSays | AsyncIterable<Buffer>,
  { tls }: { readonly tls?: { readonly cert: string; readonly key: string } } = {},
): Promise<FakeRedis> {
  const commands: (readonly string[])[] = [];
  const sockets = new Set<Socket>();
  const onSocket = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let rest = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      // As the real one says of a line that is no command, and of a TLS handshake in the clear.
      if (rest[0] !== STAR) return void socket.end('-ERR Protocol error: unknown command\r\n');
      for (let next = commandIn(rest); next !== null; next = commandIn(rest)) {
        rest = rest.subarray(next.end);
        commands.push(next.args);
        void answer(socket, says(next.args));
      }
    });
  };
  const server = tls === undefined ? createServer(onSocket) : createTlsServer(tls, onSocket);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(socket: Socket, said: RedisSays | AsyncIterable<Buffer>): Promise<void> {
  if (said === 'silence') return;
  if (said === 'cut') socket.destroy();
  else if (typeof said === 'string' || Buffer.isBuffer(said)) socket.write(said);
  else {
    for await (const bytes of said) {
      if (socket.destroyed) return;
      if (!socket.write(bytes))
        await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve));
    }
  }
}

function commandIn(bytes: Buffer): { args: string[]; end: number } | null {
  const text = bytes.toString('latin1');
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return null;
  let at = head[0].length;
  const args: string[] = [];
  for (let left = Number(head[1]); left > 0; left -= 1) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at, at + 32));
    if (size === null) return null;
    at += size[0].length;
    const end = at + Number(size[1]);
    if (bytes.length < end + 2) return null;
    args.push(bytes.toString('utf8', at, end));
    at = end + 2;
  }
  return { args, end: at };
}

/** Where Debian's server is; null if it isn't installed. */
export function findRedis(): string | null {
  try {
    return execFileSync('which', ['redis-server'], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}

/** A real server with a password, an account that may only read, and nothing on disk that stays. */
export async function startRealRedis(
  program: string,
  password: string,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  const port = await freePort();
  const child = spawn(
    program,
    [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'],
      ...[
        '--requirepass',
        password,
        '--user',
        'reader',
        'on',
        `>${password}`,
        '~*',
        '+@read',
        '+@connection',
      ],
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.once('exit', () => reject(new Error(`redis-server ended:\n${said}`)));
    child.stdout.on('data', (text: Buffer) => {
      said += text.toString();
      if (said.includes('Ready to accept connections')) resolve();
    });
  });
  return {
    port,
    async close() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
