import type { JsonObject, JsonValue } from '@millrace/engine';
import { type ReactNode, useCallback, useMemo } from 'react';
import { useEditor } from '../canvas/store.ts';
import { FormContext, type FormContextValue } from './form-context.tsx';
import { listHints, previewOf } from './template-scope.ts';

/**
 * What the fields of a node's form share: its problems, and what its templates can read.
 * @param base pointer in the flow of the value that the form changes: `/data/config`
 */
export function NodeForm({
  nodeId,
  base,
  takesTemplates = true,
  children,
}: {
  readonly nodeId: string;
  readonly base: string;
  readonly takesTemplates?: boolean;
  readonly children: ReactNode;
}) {
  const nodes = useEditor((state) => state.nodes);
  const edges = useEditor((state) => state.edges);
  const settings = useEditor((state) => state.settings);
  const runs = useEditor((state) => state.runs);
  const sample = useEditor((state) => state.sample);
  const problems = useEditor((state) => state.problems);
  const isReadOnly = useEditor((state) => state.isReadOnly);

  const flow = useMemo(() => ({ nodes, edges, settings }), [nodes, edges, settings]);
  const known = useMemo(() => ({ sample: sample as JsonValue, outputs: outputsOf(runs) }), [sample, runs]);
  const hints = useCallback(() => listHints(flow, nodeId, known), [flow, nodeId, known]);
  const preview = useCallback((text: string) => previewOf(text, flow, nodeId, known), [flow, nodeId, known]);

  const value = useMemo<FormContextValue>(() => {
    const index = nodes.findIndex(({ id }) => id === nodeId);
    const prefix = `/flow_data/nodes/${index}${base}`;
    const own = problems
      .filter((problem) => problem.node_id === nodeId && problem.pointer.startsWith(prefix))
      .map(({ pointer, message }) => ({ pointer: pointer.slice(prefix.length), message }));
    return { isReadOnly, takesTemplates, problems: own, hints, preview };
  }, [nodes, nodeId, base, problems, isReadOnly, takesTemplates, hints, preview]);

  return <FormContext value={value}>{children}</FormContext>;
}

function outputsOf(runs: { readonly [id: string]: { readonly output?: JsonObject } }) {
  return Object.fromEntries(Object.entries(runs).map(([id, { output }]) => [id, output]));
}
