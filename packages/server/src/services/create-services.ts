import type { NodeRegistry } from '@millrace/engine';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { createCallbackService } from '../features/callbacks/create-callbacks.ts';
import { createCredentialService } from '../features/credentials/service.ts';
import type { WaysOut } from '../outbound/ways-out.ts';
import type { SecretKeys } from '../secrets/keys.ts';
import type { Services } from '../worker/node-services.ts';
import type { LentPlaces } from '../worker/places.ts';
import type { PlanCache } from '../worker/plans.ts';
import type { NodeLimits } from '../worker/settings.ts';
import type { ExecutionSignals } from '../worker/signals.ts';
import { createAiService } from './ai.ts';
import { createCodeService } from './code.ts';
import { createDataService } from './data.ts';
import { createMailService } from './mail.ts';
import { createSqlService } from './sql.ts';
import { createToolService } from './tools.ts';
import { createWorkflowService } from './workflows.ts';

export interface ServicesDeps {
  readonly config: { readonly limits: NodeLimits };
  readonly db: Database;
  readonly log: Logger;
  readonly registry: NodeRegistry;
  readonly plans: PlanCache;
  readonly signals: Pick<ExecutionSignals, 'subscribe'>;
  readonly secretKeys: SecretKeys;
  readonly places: LentPlaces;
  readonly ways: WaysOut;
  /** Base of the addresses that are handed out, without a slash at its end. */
  readonly publicUrl: () => string;
}

/** Everything that nodes may ask of the world besides HTTP; one set for all runs of a process. */
export function createServices(deps: ServicesDeps): Services {
  const { config, db, log, registry, plans, signals, secretKeys, places, ways, publicUrl } = deps;
  const { sockets, fetch } = ways;
  const code = createCodeService({ maxOutputBytes: config.limits.nodeOutputBytes });
  const services: Services = {
    credentials: createCredentialService({ db, keys: secretKeys, log }),
    mail: createMailService({ sockets }),
    sql: createSqlService({ sockets }),
    ai: createAiService({ outbound: fetch }),
    code: code.service,
    data: createDataService({ db }),
    workflows: createWorkflowService({ db, plans, signals, places }),
    callbacks: createCallbackService({ db, keys: secretKeys, publicUrl }),
    tools: createToolService(registry, () => services),
    async close() {
      await code.close();
    },
  };
  return services;
}
