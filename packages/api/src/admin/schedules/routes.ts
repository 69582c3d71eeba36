import { formatTimestamp, type JsonObject, type NodeRegistry, validateValue } from '@millrace/engine';
import { presentMessage } from '@millrace/messages/english';
import { readDatabaseTime } from '@millrace/runtime/statements';
import { SCHEDULE_TRIGGER } from '@millrace/service/schedules/sync';
import { nextFires, readSchedule } from '@millrace/triggers';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';

const FIRES = 10;

/** Preview of a schedule's times while it is being edited. */
export function scheduleRoutes(app: FastifyInstance, deps: AppDeps): void {
  adminRoute(app, deps, 'POST /orgs/:org/schedule-previews', async ({ body: { config } }) => {
    const faults = findFaults(config, deps.registry);
    const definition = faults.length === 0 ? readSchedule(config) : null;
    if (definition === null) return { fires: [], timezone: null, faults };
    const fires = nextFires(definition, await readDatabaseTime(deps.db), FIRES);
    return { fires: fires.map((ms) => formatTimestamp(new Date(ms))), timezone: definition.timezone, faults };
  });
}

/** Errors found by the trigger's schema and by its own validation. */
function findFaults(config: JsonObject, registry: NodeRegistry) {
  const definition = registry(SCHEDULE_TRIGGER);
  if (definition === undefined) throw new Error('the catalogue has no schedule trigger');
  const bySchema = validateValue(definition.configSchema, config);
  if (bySchema.length > 0)
    return bySchema.map(({ pointer, code, message }) => ({ pointer, code, ...presentMessage(message) }));
  const byValue = definition.findFaults?.(config) ?? [];
  return byValue.map(({ pointer, message }) => ({
    pointer,
    code: 'invalid_value',
    ...presentMessage(message),
  }));
}
