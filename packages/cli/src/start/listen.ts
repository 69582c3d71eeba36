import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Config, localUrl } from '../settings/config.ts';

/** The API couldn't listen; the message says why and how to fix it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Consecutive ports tried if none was configured. */
const PORTS_TRIED = 100;

export interface Listening {
  readonly app: FastifyInstance;
  readonly port: number;
  /** Base of every URL in responses. */
  readonly publicUrl: string;
}

/**
 * Builds the API for the port it gets, because its responses contain URLs, and listens there. If no port was configured and the default one
 * is taken, the next free one is used.
 */
export async function listen(config: Config, build: (config: Config) => FastifyInstance): Promise<Listening> {
  const count = config.portIsExplicit && config.port !== 0 ? 1 : PORTS_TRIED;
  for (let attempt = 0; attempt < count; attempt += 1) {
    const wanted = config.port === 0 ? 0 : config.port + attempt;
    try {
      return await listenOn(config, wanted, build);
    } catch (error) {
      if (count === 1 || codeOf(error) !== 'EADDRINUSE') throw explainListenError(error, config.host, wanted);
    }
  }
  throw new ListenError(
    `No port from ${config.port} to ${config.port + count - 1} is free on ${config.host}.`,
  );
}

async function listenOn(
  config: Config,
  wanted: number,
  build: (config: Config) => FastifyInstance,
): Promise<Listening> {
  const port = wanted === 0 ? await findFreePort(config.host) : wanted;
  const publicUrl = config.publicUrlIsExplicit ? config.publicUrl : localUrl(config.host, port);
  const app = build({ ...config, port, publicUrl });
  try {
    await app.listen({ host: config.host, port });
    return { app, port, publicUrl };
  } catch (error) {
    await app.close();
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/**
 * A {@link ListenError} if the reason is known, else the error itself.
 * @param prefix of the variables that the address comes from
 */
export function explainListenError(error: unknown, host: string, port: number, prefix = ''): unknown {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new ListenError(
        `Port ${port} on ${host} is in use by another program. Stop it, or choose another port: ${prefix}PORT=${port + 1}`,
        { cause: error },
      );
    case 'EACCES':
      return new ListenError(
        `This user isn't allowed to listen on port ${port}. Choose a port from 1024 upwards: ${prefix}PORT=8080`,
        { cause: error },
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ListenError(
        `${host} is not an address of this machine. Use 127.0.0.1, or 0.0.0.0 for all: ${prefix}HOST=0.0.0.0`,
        { cause: error },
      );
    default:
      return error;
  }
}

async function findFreePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
