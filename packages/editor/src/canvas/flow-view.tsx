import type { DiffMark } from '@millrace/editor-model/display.ts';
import type { KnownType, NodeRun } from '@millrace/editor-model/editor-state.ts';
import { createEditorStore, EditorProvider } from '@millrace/editor-model/store.ts';
import type { Flow } from '@millrace/engine';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { fillingSkeleton, lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { useTranslateNodeTypes } from '@millrace/ui/i18n/service/index.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useConnectors, wholeTypes } from './use-connectors.ts';

const Canvas = lazyPart(async () => (await import('./canvas.tsx')).Canvas, fillingSkeleton);

const NO_RUNS: { readonly [nodeId: string]: NodeRun } = {};

/**
 * Node types by name, in the reader's language; empty while loading. They are outlines until something on the page has needed all of them
 * ({@link useWholeTypes}). Those of connectors are there once something has asked for them ({@link useConnectors}).
 * @param isNeeded loads them, unless something else has
 */
export function useNodeTypes(isNeeded = true): ReadonlyMap<string, KnownType> {
  const whole = useQuery({ ...wholeTypes, enabled: false }).data;
  const outlines = useQuery({
    ...endpointQuery('GET /node-types/outline'),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isNeeded && whole === undefined,
  }).data;
  const items = whole?.items ?? outlines?.items;
  const { common, own } = useConnectors(null);
  const translate = useTranslateNodeTypes(isNeeded);
  return useMemo(() => {
    const first = translate(items ?? []);
    if (first.length === 0) return new Map();
    const ofServices = translate(common?.items ?? [], common?.ja);
    // Each with its own texts: what a file says is said of its nodes only.
    const ofOrganisation = (own?.items ?? []).flatMap(({ items, ja }) => translate(items, ja));
    return new Map([...first, ...ofOrganisation, ...ofServices].map((type) => [type.type, type]));
  }, [items, common, own, translate]);
}

/**
 * A read-only flow: a version, or an execution's. Fills its parent, which must have a height.
 * @param onOpenNode called with the opened node; null when it is closed
 */
export function FlowView({
  flow,
  runs = NO_RUNS,
  marks,
  selectedId,
  onOpenNode,
}: {
  flow: Flow;
  runs?: { readonly [nodeId: string]: NodeRun };
  /** Differences of nodes from another version. */
  marks?: { readonly [nodeId: string]: DiffMark };
  selectedId?: string | null;
  onOpenNode?: (nodeId: string | null) => void;
}) {
  const nodeTypes = useNodeTypes();
  const [store, setStore] = useState(() => createEditorStore({ flow, isReadOnly: true }));
  const [shown, setShown] = useState(flow);
  if (shown !== flow) {
    setShown(flow);
    setStore(createEditorStore({ flow, isReadOnly: true }));
  }
  useEffect(() => store.getState().showNodeTypes(nodeTypes), [store, nodeTypes]);
  useEffect(() => store.getState().showRuns(runs), [store, runs]);
  useEffect(() => {
    if (selectedId !== undefined) store.getState().select(selectedId === null ? [] : [selectedId]);
  }, [store, selectedId]);
  return (
    <EditorProvider store={store}>
      <Canvas
        {...(marks === undefined ? {} : { marks })}
        {...(onOpenNode === undefined ? {} : { onOpenNode })}
      />
    </EditorProvider>
  );
}
