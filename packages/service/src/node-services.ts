import { createLiveTexts } from '@millrace/chat/live-text';
import { createMemoryService } from '@millrace/chat/memory';
import { createCredentialService } from '@millrace/credentials/service';
import type { Database } from '@millrace/database/database';
import { createKafkaService } from '@millrace/database-clients/kafka';
import { createMongoService } from '@millrace/database-clients/mongodb';
import { createRedisService } from '@millrace/database-clients/redis';
import { createSqlService } from '@millrace/database-clients/sql';
import type { Egress } from '@millrace/egress/egress';
import type { NodeRegistry } from '@millrace/engine';
import type { Files } from '@millrace/files/files';
import { createAiService } from '@millrace/ports/ai';
import { createCodeService } from '@millrace/ports/code';
import { createContentService } from '@millrace/ports/contents';
import { createDataService } from '@millrace/ports/data';
import { checkInput } from '@millrace/ports/input-checks';
import { createMailService } from '@millrace/ports/mail';
import { createToolService } from '@millrace/ports/tools';
import { createVectorService } from '@millrace/ports/vectors';
import type { BorrowedSlots } from '@millrace/runtime/borrowed-slots';
import { createWorkflowService } from '@millrace/runtime/child-workflows';
import type { Meters } from '@millrace/runtime/meters/meters';
import type { Services } from '@millrace/runtime/node-services';
import type { ExecutionNotifier } from '@millrace/runtime/notifier';
import type { PlanCache } from '@millrace/runtime/plans';
import type { NodeLimits } from '@millrace/runtime/settings';
import type { SecretKeys } from '@millrace/secrets/keys';
import type { Logger } from 'pino';
import { createCallbackService } from './callbacks/create-callbacks.ts';
import { createNodeFiles } from './files/node-files.ts';
import type { StorageSettings } from './settings.ts';

export interface ServicesDeps {
  readonly config: { readonly limits: NodeLimits; readonly storage: StorageSettings };
  readonly db: Database;
  readonly log: Logger;
  readonly registry: NodeRegistry;
  readonly plans: PlanCache;
  readonly notifier: Pick<ExecutionNotifier, 'subscribe' | 'changed'>;
  readonly secretKeys: SecretKeys;
  readonly slots: BorrowedSlots;
  readonly egress: Egress;
  readonly files: Files;
  /** What this process counts; if absent, nobody reads it. */
  readonly meters?: Meters;
  /** Base of the issued URLs, without a trailing slash. */
  readonly publicUrl: () => string;
}

/** All services of nodes besides HTTP; one set for all runs of a process. */
export function createServices(deps: ServicesDeps): Services {
  const { config, db, log, registry, secretKeys, egress, files, publicUrl } = deps;
  const { sockets, fetch } = egress;
  const code = createCodeService({ maxOutputBytes: config.limits.nodeOutputBytes });
  const contents = createContentService({ maxOutputBytes: config.limits.nodeOutputBytes });
  const services: Services = {
    credentials: createCredentialService({ db, keys: secretKeys, log, egress }),
    mail: createMailService({ sockets }),
    sql: createSqlService({ sockets }),
    redis: createRedisService({ sockets }),
    mongodb: createMongoService({ sockets }),
    kafka: createKafkaService({ sockets, fetch }),
    ai: createAiService({ outbound: fetch, live: createLiveTexts(db, deps.notifier) }),
    code: code.service,
    documents: code.documents,
    contents: contents.service,
    memory: createMemoryService(db),
    data: createDataService({ db, maxBytes: config.storage.dataBytes }),
    vectors: createVectorService({ db, maxBytes: config.storage.dataBytes }),
    workflows: createWorkflowService({ ...deps, checkInput }),
    callbacks: createCallbackService({ db, keys: secretKeys, publicUrl }),
    files: createNodeFiles(files),
    tools: createToolService(registry, () => services, config.limits),
    async close() {
      await Promise.all([code.close(), contents.close()]);
    },
  };
  return services;
}
