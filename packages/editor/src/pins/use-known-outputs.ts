import type { ExecutionDetail, NodeRunDetail } from '@millrace/admin-api';
import { upstreamOf } from '@millrace/editor-model/flow-scope.ts';
import { useEditorState } from '@millrace/editor-model/store.ts';
import { type JsonObject, own } from '@millrace/engine';
import { useOrg, useWorkflowId } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';

/** Larger outputs take too long to load for what they add about the shape. */
const MAX_OUTPUT_CHARS = 200_000;
/** Maximum number of nodes whose last outputs are loaded for a form; the nearest ones. */
const MAX_READ = 12;

/** The workflow's last execution, whoever started it; undefined if there is none or it is still loading. */
export function useLastExecution(): ExecutionDetail | undefined {
  return useLastExecutionQuery().execution;
}

function useLastExecutionQuery(): {
  readonly execution: ExecutionDetail | undefined;
  readonly isLoading: boolean;
} {
  const org = useOrg();
  const id = useWorkflowId();
  const inputs = useQuery({ ...inputsQuery(org, id ?? 0), enabled: id !== null });
  const last = inputs.data?.executions[0]?.execution_id;
  const detail = useQuery({ ...detailQuery(org, last ?? 0), enabled: last !== undefined });
  return { execution: detail.data, isLoading: inputs.isLoading || detail.isLoading };
}

function inputsQuery(org: number, workflowId: number) {
  return endpointQuery('GET /orgs/:org/workflows/:id/inputs', { params: { org, id: workflowId } });
}

function detailQuery(org: number, execution: number) {
  return endpointQuery('GET /orgs/:org/executions/:execution', { params: { org, execution } });
}

/** Loads the outputs of these nodes in the workflow's last execution, if they succeeded there and unless they are there already. */
export function useLoadLastOutputs(): (
  ids: readonly string[],
) => Promise<{ readonly [nodeId: string]: JsonObject }> {
  const org = useOrg();
  const id = useWorkflowId();
  const client = useQueryClient();
  return async (ids) => {
    if (id === null || ids.length === 0) return {};
    const [last] = (await client.ensureQueryData(inputsQuery(org, id))).executions;
    if (last === undefined) return {};
    const execution = await client.ensureQueryData(detailQuery(org, last.execution_id));
    const wanted = ids.filter((each) => hasOutput(execution, each));
    const found = await Promise.all(
      wanted.map((each) => client.ensureQueryData(outputQuery(org, execution, each))),
    );
    return Object.fromEntries(found.map(({ node_id: nodeId, output }) => [nodeId, output]));
  };
}

/**
 * A node's output in the workflow's last execution, if it succeeded there.
 * @param isWanted nothing but the execution is loaded otherwise
 */
export function useLastOutput(
  nodeId: string,
  isWanted: boolean,
): {
  readonly execution: ExecutionDetail | undefined;
  readonly output: JsonObject | undefined;
  readonly isLoading: boolean;
} {
  const org = useOrg();
  const { execution, isLoading } = useLastExecutionQuery();
  const query = useQuery({
    ...outputQuery(org, execution, nodeId),
    enabled: isWanted && hasOutput(execution, nodeId),
  });
  return { execution, output: query.data?.output, isLoading: isWanted && (isLoading || query.isLoading) };
}

function hasOutput(execution: ExecutionDetail | undefined, nodeId: string): boolean {
  return (execution?.nodes ?? []).some(
    ({ node_id: id, status, output_size: size }) =>
      id === nodeId && status === 'success' && size <= MAX_OUTPUT_CHARS,
  );
}

function outputQuery(org: number, execution: ExecutionDetail | undefined, nodeId: string) {
  const params = { org, execution: execution?.execution.id ?? 0, node: nodeId };
  return {
    ...endpointQuery('GET /orgs/:org/executions/:execution/nodes/:node', { params }),
    staleTime: Number.POSITIVE_INFINITY,
  };
}

/** Outputs of these nodes in an execution, if they succeeded. */
export function useOutputsOf(
  execution: ExecutionDetail | undefined,
  ids: readonly string[],
): { readonly [nodeId: string]: JsonObject } {
  const org = useOrg();
  const known = useQueries({
    queries: ids.filter((id) => hasOutput(execution, id)).map((id) => outputQuery(org, execution, id)),
    combine: combineOutputs,
  });
  return useMemo(() => Object.fromEntries(known), [known]);
}

/** A Map, because the query client copies combined plain objects and thereby breaks exact numbers. */
function combineOutputs(
  answers: readonly { readonly data: NodeRunDetail | undefined }[],
): ReadonlyMap<string, JsonObject> {
  return new Map(answers.flatMap(({ data }) => (data === undefined ? [] : [[data.node_id, data.output]])));
}

/**
 * Known outputs that a node can read: pinned ones, else those of the run on the canvas, else those of the workflow's
 * last execution.
 */
export function useKnownOutputs(nodeId: string): { readonly [nodeId: string]: JsonObject | undefined } {
  const { nodes, edges, runs, pins } = useEditorState('nodes', 'edges', 'runs', 'pins');
  const upstream = useMemo(() => upstreamOf({ nodes, edges }, nodeId), [nodes, edges, nodeId]);
  const missing = upstream
    .filter((id) => !Object.hasOwn(pins, id) && own(runs, id)?.output === undefined)
    .slice(-MAX_READ);
  const last = useLastExecution();
  const former = useOutputsOf(missing.length === 0 ? undefined : last, missing);
  return useMemo(() => {
    const now = Object.entries(runs).flatMap(([id, { output }]): [string, JsonObject][] =>
      output === undefined ? [] : [[id, output]],
    );
    return { ...former, ...Object.fromEntries(now), ...pins };
  }, [former, runs, pins]);
}
