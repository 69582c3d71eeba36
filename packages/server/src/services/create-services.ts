import type { NodeRegistry } from '@millrace/engine';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { createCredentialService } from '../features/credentials/service.ts';
import { createGuardedFetch } from '../outbound/guarded-fetch.ts';
import { createGuardedSockets } from '../outbound/guarded-socket.ts';
import { createOrganisationOutbound } from '../outbound/of-organisation.ts';
import type { SecretKeys } from '../secrets/keys.ts';
import type { LentPlaces } from '../worker/places.ts';
import type { PlanCache } from '../worker/plans.ts';
import type { ExecutionSignals } from '../worker/signals.ts';
import { createAiService } from './ai.ts';
import { createCallbackService } from './callbacks.ts';
import { createCodeService } from './code.ts';
import { createDataService } from './data.ts';
import { createMailService } from './mail.ts';
import type { Services } from './services.ts';
import { createSqlService } from './sql.ts';
import { createToolService } from './tools.ts';
import { createWorkflowService } from './workflows.ts';

export interface ServicesDeps {
  readonly config: Pick<Config, 'allowHosts' | 'limits'>;
  readonly db: Database;
  readonly log: Logger;
  readonly registry: NodeRegistry;
  readonly plans: PlanCache;
  readonly signals: Pick<ExecutionSignals, 'subscribe'>;
  readonly secretKeys: SecretKeys;
  readonly places: LentPlaces;
  /** Base of the addresses that are handed out, without a slash at its end. */
  readonly publicUrl: () => string;
}

/** Everything that nodes may ask of the world besides HTTP; one set for all runs of a process. */
export function createServices(deps: ServicesDeps): Services {
  const { config, db, log, registry, plans, signals, secretKeys, places, publicUrl } = deps;
  const { allowHosts, limits } = config;
  const outbound = createGuardedFetch({ allowHosts });
  const sockets = createGuardedSockets({ allowHosts });
  const narrowed = createOrganisationOutbound(db);
  const socketsOf = (organisationId: number) => narrowed.sockets(organisationId, sockets);
  const code = createCodeService({ maxOutputBytes: limits.nodeOutputBytes });
  const services: Services = {
    credentials: createCredentialService({ db, keys: secretKeys, log }),
    mail: createMailService({ sockets: socketsOf }),
    sql: createSqlService({ sockets: socketsOf }),
    ai: createAiService({ outbound: (organisationId) => narrowed.fetch(organisationId, outbound) }),
    code: code.service,
    data: createDataService({ db }),
    workflows: createWorkflowService({ db, plans, signals, places }),
    callbacks: createCallbackService({ db, keys: secretKeys, publicUrl }),
    tools: createToolService(registry, () => services),
    async close() {
      await Promise.all([code.close(), outbound.close()]);
    },
  };
  return services;
}
