import { type ClientCertificate, loadOnce } from '@millrace/engine';
import type { Agent } from 'undici';
import { createGuardedConnector, type Resolve, systemResolve } from './connector.ts';
import type { TargetPolicy } from './target-policy.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Of a response. */
const MAX_HEADER_BYTES = 32 * 1024;

export interface AgentOptions {
  /** Default: the operating system's resolver. */
  readonly resolve?: Resolve;
}

/** Connection pools that only open guarded connections. They have no timeouts of their own. */
export async function createAgent(
  policy: TargetPolicy,
  options: AgentOptions,
  shown?: { readonly certificate: ClientCertificate; readonly origin: string },
): Promise<Agent> {
  const { Agent, buildConnector, Pool } = await import('undici');
  return new Agent({
    factory: (origin) =>
      new Pool(origin, {
        connect: createGuardedConnector(
          new URL(origin),
          policy,
          {
            resolve: options.resolve ?? systemResolve,
            connectTimeoutMs: CONNECT_TIMEOUT_MS,
            ...(shown?.origin === String(origin) ? { certificate: shown.certificate } : {}),
          },
          buildConnector,
        ),
        maxHeaderSize: MAX_HEADER_BYTES,
        allowH2: false,
        // The deadline of the whole exchange applies; two timeouts would only disagree.
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
  });
}

/** An agent that is created with the first request: undici's code takes some MiB, and some processes never send one. */
export class AgentWhenUsed {
  readonly #load: () => Promise<Agent>;
  #agent: Agent | null = null;
  #isDestroyed = false;

  constructor(policy: TargetPolicy, options: AgentOptions) {
    this.#load = loadOnce(async () => {
      this.#agent = await createAgent(policy, options);
      return this.#agent;
    });
  }

  /** @throws if the code could not be loaded; the next request tries again */
  async get(): Promise<Agent> {
    const agent = await this.#load();
    if (this.#isDestroyed) await agent.destroy();
    return agent;
  }

  /** Aborts what is in progress and closes all connections; later requests fail. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    await this.#agent?.destroy();
  }
}
