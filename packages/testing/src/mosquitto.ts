import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';

/** Debian puts the broker where only administrators look for programs. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin`;

/** Whether Debian's broker and its clients are installed. */
export function hasMosquitto(): boolean {
  try {
    execFileSync('which', ['mosquitto', 'mosquitto_passwd', 'mosquitto_pub'], { env: { PATH } });
    return true;
  } catch {
    return false;
  }
}

interface MosquittoUser {
  readonly username: string;
  readonly password: string;
}

/** A real MQTT broker with one user. */
export interface Mosquitto {
  readonly port: number;
  /** Publishes with QoS 1, by the program `mosquitto_pub`, and waits for the acknowledgement. */
  publish(topic: string, payload: string | Buffer): Promise<void>;
  /** Ends the broker as its service manager does: sessions are kept. */
  stop(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function startMosquitto({ username, password }: MosquittoUser): Promise<Mosquitto> {
  const folder = mkdtempSync(join(tmpdir(), 'mosquitto-'));
  const port = await freePort();
  const passwords = join(folder, 'passwords');
  execFileSync('mosquitto_passwd', ['-b', '-c', passwords, username, password], { env: { PATH } });
  const config = join(folder, 'mosquitto.conf');
  writeFileSync(
    config,
    [
      `listener ${port} 127.0.0.1`,
      'allow_anonymous false',
      `password_file ${passwords}`,
      'persistence true',
      `persistence_location ${folder}/`,
      // Otherwise an account of its own, which can't read the folder.
      ...(process.getuid?.() === 0 ? ['user root'] : []),
    ].join('\n'),
  );
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    const started = spawn('mosquitto', ['-v', '-c', config], {
      env: { PATH },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    const said: string[] = [];
    for await (const line of createInterface(started.stderr)) {
      said.push(line);
      if (line.endsWith(' running')) {
        started.stderr.resume();
        return;
      }
    }
    throw new Error(`mosquitto ended:\n${said.join('\n')}`);
  }

  async function stop(): Promise<void> {
    if (child === null || child.exitCode !== null) return;
    const exit = once(child, 'exit');
    child.kill();
    await exit;
  }

  await start();
  return {
    port,
    async publish(topic, payload) {
      const args = ['-h', '127.0.0.1', '-p', String(port), '-u', username, '-P', password];
      const sending = spawn('mosquitto_pub', [...args, '-t', topic, '-q', '1', '-s'], {
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      sending.stdin.end(payload);
      const [code] = await once(sending, 'exit');
      if (code !== 0) throw new Error(`mosquitto_pub ended with ${code}`);
    },
    stop,
    start,
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
