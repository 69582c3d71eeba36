import type { Flow, NodeRegistry } from '@millrace/engine';
import { type KnownKind, presentId, presentPath } from '@millrace/identity/organisations/former-ids';
import { changeFlowIds } from '@millrace/service/workflows/flow-ids';
import type { FastifyRequest } from 'fastify';
import { type Principal, principalOf } from './context.ts';

const RESOURCE = /^\/api\/v1\/(workflows|executions)\/:id(?=\/|$)/;
const ID = /^[1-9]\d{0,14}$/;

/**
 * Lets a request go on with the ids here if its path has those that the organisation had in the instance it comes from. They are never ids of
 * something else of the organisation.
 */
export function usePresentIds(request: FastifyRequest, { formerIds }: Principal): void {
  if (formerIds.length === 0) return;
  const kind = RESOURCE.exec(request.routeOptions.url ?? '')?.[1] as KnownKind | undefined;
  const params = request.params as { id?: string };
  if (kind === undefined || params.id === undefined || !ID.test(params.id)) return;
  params.id = String(presentId(formerIds, kind, Number(params.id)));
}

/** The same for a path, so that an Idempotency-Key is recognised under either. */
export function presentRoute(request: FastifyRequest, route: string): string {
  return presentPath(principalOf(request).formerIds, route);
}

/** The same for a filter. */
export function presentWorkflowId(request: FastifyRequest, id: number): number {
  return presentId(principalOf(request).formerIds, 'workflows', id);
}

/** The same for what a checked flow in a body names. */
export function withPresentIds<Checked extends { readonly flow: Flow }>(
  request: FastifyRequest,
  checked: Checked,
  registry: NodeRegistry,
): Checked {
  const { formerIds } = principalOf(request);
  if (formerIds.length === 0) return checked;
  const flow = changeFlowIds(checked.flow, registry, (kind, id) => presentId(formerIds, kind, id));
  return { ...checked, flow };
}
