import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';

/** How many ports tests share. */
const PORTS = 10_000;
/** How far apart the first ports of two processes are whose ids follow each other. */
const PORTS_OF_A_PROCESS = 64;

let count = 0;

/**
 * A port of 127.0.0.1 for a process that can't choose one itself. The kernel gives it to nobody else meanwhile: it is below those that it
 * gives to connections, and to servers that take any.
 */
export async function freePort(): Promise<number> {
  const [firstOfKernel] = (await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8')).split(/\s+/);
  for (;;) {
    const place = (process.pid * PORTS_OF_A_PROCESS + count) % PORTS;
    count += 1;
    const port = Number(firstOfKernel) - PORTS + place;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
