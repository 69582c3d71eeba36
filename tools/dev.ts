import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { printError } from '@millrace/cli/commands/shell';
import { type Config, loadConfig, localUrl } from '@millrace/cli/settings/config';
import { pagePolicy, SERVICE_PATHS } from '@millrace/http/pages';
import { createServer as createVite, type Plugin, type ViteDevServer } from 'vite';

/**
 * `npm run dev`: Vite serves the page with hot reloading; everything else goes to a service that restarts when one of its files changes.
 * Both share one address, so cookies, links and request origins are as in production.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WEB = join(ROOT, 'packages/web');
const CLI = join(ROOT, 'packages/cli/src/cli.ts');
/** node_modules may be a symlink, and Vite checks real paths before serving files. */
const DEPENDENCIES = dirname(realpathSync(join(ROOT, 'node_modules/vite')));
/** In index.html; set in Vite's configuration. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__';

/** The service's process and its restarts. */
interface Service {
  /** Resolves once it accepts requests; a new promise after each restart. */
  ready(): Promise<void>;
  stop(signal: NodeJS.Signals): void;
  readonly ended: Promise<number>;
}

function startService(port: number, publicUrl: string): Service {
  const child = spawn(process.execPath, ['--watch', '--watch-preserve-output', CLI, 'start', '--json'], {
    env: { ...process.env, HOST: '127.0.0.1', PORT: String(port), MILLRACE_PUBLIC_URL: publicUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let ready = Promise.withResolvers<void>();
  let isAnnounced = false;
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('{')) {
      ready.resolve();
      if (!isAnnounced) announce(publicUrl, JSON.parse(line) as FirstStart);
      isAnnounced = true;
      return;
    }
    console.log(line);
    if (line.startsWith('Restarting')) ready = Promise.withResolvers();
  });
  return {
    ready: () => ready.promise,
    stop: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1))),
  };
}

/** What the first start on an empty database prints. */
interface FirstStart {
  readonly setup_url?: string;
  readonly first_api_key?: string;
}

function announce(address: string, { setup_url: setupUrl, first_api_key: key }: FirstStart): void {
  console.log(`Millrace is ready: ${address}`);
  if (setupUrl !== undefined) console.log(`Create the first account (this link works once): ${setupUrl}`);
  if (key !== undefined) console.log(`Your first API key, shown this one time only: ${key}`);
  console.log('Press Ctrl-C to stop.');
}

/** Serves the page at every address that isn't one of Vite's files, with a policy like the service's. */
function servePage(): Plugin {
  return {
    name: 'serve-page',
    configureServer: (server) => () => {
      server.middlewares.use((request, response, next) => {
        sendPage(server, request, response).catch(next);
      });
    },
  };
}

async function sendPage(
  server: ViteDevServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const nonce = randomBytes(16).toString('base64');
  const template = await readFile(join(WEB, 'index.html'), 'utf8');
  const page = await server.transformIndexHtml(request.url ?? '/', template);
  const policy = pagePolicy(nonce, { inlineScripts: true, connections: [`ws://${request.headers.host}`] });
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policy,
  });
  response.end(page.replaceAll(NONCE_PLACEHOLDER, nonce));
}

/** Delays requests for the service while it starts. */
function holdRequests(ready: () => Promise<void>): Plugin {
  return {
    name: 'hold-requests',
    configureServer({ middlewares }) {
      middlewares.use((request, _response, next) => {
        const isForService = SERVICE_PATHS.some((path) => request.url?.startsWith(path));
        if (isForService) void ready().then(() => next());
        else next();
      });
    },
  };
}

async function startVite(config: Config, port: number, ready: () => Promise<void>): Promise<ViteDevServer> {
  const target = `http://127.0.0.1:${port}`;
  const vite = await createVite({
    root: WEB,
    appType: 'custom',
    clearScreen: false,
    plugins: [holdRequests(ready), servePage()],
    server: {
      host: config.host,
      port: config.port === 0 ? await freePort() : config.port,
      strictPort: config.portIsExplicit && config.port !== 0,
      cors: false,
      fs: { allow: [ROOT, DEPENDENCIES] },
      proxy: Object.fromEntries(SERVICE_PATHS.map((path) => [path, { target }])),
    },
  });
  return await vite.listen();
}

/** A port that was free a moment ago; the service keeps it across restarts. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function main(): Promise<number> {
  const config = loadConfig();
  const port = await freePort();
  const started = Promise.withResolvers<Service>();
  const vite = await startVite(config, port, async () => (await started.promise).ready());
  const address = vite.httpServer?.address() as AddressInfo;
  const publicUrl = config.publicUrlIsExplicit ? config.publicUrl : localUrl(config.host, address.port);
  const service = startService(port, publicUrl);
  started.resolve(service);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => service.stop(signal));
  const exitCode = await service.ended;
  await vite.close();
  return exitCode;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = printError(error, false);
}
