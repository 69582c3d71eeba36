import { type JsonValue, Meter, stepsToRead, stringifyJson, stringifyWork } from '@millrace/engine';
import { addJsonBodies } from '@millrace/http/body';
import { createClientErrorHandler } from '@millrace/http/client-error';
import { limitConnections } from '@millrace/http/connection-limits';
import { addDocsPage } from '@millrace/http/docs-page';
import { addGuides } from '@millrace/http/guides/routes';
import { healthRoutes } from '@millrace/http/health';
import { addOpenApi } from '@millrace/http/openapi';
import { addAdminPages, openAdminPages } from '@millrace/http/pages';
import { newRequestId, sendProblem, toApiError } from '@millrace/http/problem';
import { mendUrl } from '@millrace/http/routing';
import { endSilentConnections } from '@millrace/http/silent-connections';
import { createValidatorCompiler } from '@millrace/http/validation';
import { callbackRoutes } from '@millrace/public-addresses/callbacks/routes';
import { chatRoutes } from '@millrace/public-addresses/chat/routes';
import { formRoutes } from '@millrace/public-addresses/forms/routes';
import { webhookRoutes } from '@millrace/public-addresses/webhooks/routes';
import { finishInTurns } from '@millrace/runtime/turns';
import { createStarter } from '@millrace/service/executions/accept';
import { createStartBatch } from '@millrace/service/executions/batch';
import { createCancel } from '@millrace/service/executions/cancel';
import { createTurns } from '@millrace/service/turns';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { accountRoutes } from './admin/accounts.ts';
import { administrationRoutes } from './admin/administration.ts';
import { adminApprovalRoutes } from './admin/callbacks/routes.ts';
import { editorRoutes } from './admin/editor.ts';
import { adminImportRoutes } from './admin/executions/import.ts';
import { adminExecutionRoutes } from './admin/executions/routes.ts';
import type { AppDeps } from './app-deps.ts';
import { addRequestHooks } from './hooks.ts';
import { executionRoutes } from './public/executions/routes.ts';
import { fileRoutes } from './public/files/routes.ts';
import { workflowRoutes } from './public/workflows/routes.ts';
import type { ApiSettings } from './settings.ts';

/** Builds the HTTP server with all routes. It isn't listening yet, and doesn't own its deps. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const app = createServer(deps);
  app.setReplySerializer(toJson);
  app.addHook('preSerialization', writeInTurns);
  addJsonBodies(app, deps.config.limits);
  const pages = openAdminPages(deps.webPages ?? null);
  const urgent = addRequestHooks(app, deps, pages);
  endSilentConnections(app);
  limitConnections(app, deps.config, deps.log, deps.meters);
  addOpenApi(app);
  addDocsPage(app);
  addGuides(app);
  addAdminPages(app, pages);
  app.register(async (scope) => {
    healthRoutes(scope, deps.readiness);
    workflowRoutes(scope, deps);
    // One instance for everything that starts executions, so that API and webhook starts share their statements too.
    const starter = createStarter(deps);
    const cancel = createCancel(urgent);
    const turns = createTurns();
    const startBatch = createStartBatch({ plans: deps.plans, starter, turns });
    executionRoutes(scope, deps, { starter, startBatch, turns }, cancel);
    fileRoutes(scope, deps);
    callbackRoutes(scope, urgent);
    webhookRoutes(scope, deps, starter);
    formRoutes(scope, deps, starter);
    chatRoutes(scope, deps, starter);
    accountRoutes(scope, urgent);
    editorRoutes(scope, deps, starter);
    adminExecutionRoutes(scope, deps, starter, cancel);
    adminImportRoutes(scope, deps, startBatch);
    adminApprovalRoutes(scope, urgent);
    administrationRoutes(scope, deps);
  });
  return app;
}

/** Time for a whole request to arrive, including slow uploads of the largest body. */
const REQUEST_TIMEOUT_MS = 120_000;
/** How often Node checks for connections that have timed out. */
const CONNECTION_CHECK_MS = 1_000;

function createServer({ config, log }: AppDeps): FastifyInstance {
  const { limits } = config;
  const validatorCompiler = createValidatorCompiler();
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: newRequestId,
    trustProxy: trustedProxies(config.trustProxy),
    bodyLimit: limits.bodyBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // A hook responds while closing, in the format of all other errors.
    return503OnClosing: false,
    http: {
      // Node's own refusal has no body; a hook refuses in the format of all other errors.
      requireHostHeader: false,
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
    },
    // Set here because a scope with its own schemas builds its compilers from these.
    schemaController: {
      compilersFactory: {
        // Only typed as a factory of Ajv's own compilers.
        buildValidator: (() => validatorCompiler) as () => never,
        buildSerializer: () => () => toJson,
      },
    },
    // No path can be longer than the headers, so an overlong id gets the same 404 as any other.
    routerOptions: { maxParamLength: limits.headerBytes },
    rewriteUrl: (request) => mendUrl(request.url ?? '/'),
    clientErrorHandler: createClientErrorHandler(limits.headerBytes),
    frameworkErrors: (error, request, reply) => {
      void sendProblem(toApiError(error, request), request, reply);
    },
  });
  return app;
}

/** Responses that take more steps to read are serialised in turns: about a millisecond of the main thread. */
const LARGE_STEPS = 5_000;

/** The JSON text of a response that was serialised in turns. */
class WrittenBody {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The outputs of one execution can be 64 MiB: serialising them at once would block everything else. */
function writeInTurns(
  _request: FastifyRequest,
  _reply: FastifyReply,
  body: unknown,
  done: (error: Error | null, body: unknown) => void,
): void {
  const value = body as JsonValue;
  if (stepsToRead(value, LARGE_STEPS) < LARGE_STEPS) {
    done(null, body);
    return;
  }
  finishInTurns(stringifyWork(value, new Meter())).then(
    (text) => done(null, new WrittenBody(text)),
    (error: unknown) => done(error as Error, null),
  );
}

/** Responses are serialised without loss, never through a schema that could drop or change something. */
function toJson(body: unknown): string {
  return body instanceof WrittenBody ? body.text : stringifyJson(body as JsonValue);
}

/** A number of proxies means: trust this many addresses, counted from the connection's. */
function trustedProxies(
  setting: ApiSettings['trustProxy'],
): false | string[] | ((address: string, hop: number) => boolean) {
  return typeof setting === 'number' ? (_address, hop) => hop < setting : setting;
}
