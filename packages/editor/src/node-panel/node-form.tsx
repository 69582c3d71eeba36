import '@millrace/ui/i18n/parts/template-messages.ts';
import { isWhole, type KnownType } from '@millrace/editor-model/editor-state.ts';
import { namesIn } from '@millrace/editor-model/known-names.ts';
import { withoutNode } from '@millrace/editor-model/problem-text.ts';
import { useEditorState } from '@millrace/editor-model/store.ts';
import { listHints, listSources, previewOf } from '@millrace/editor-model/template-scope.ts';
import { type FlowNode, isJsonObject, type JsonValue } from '@millrace/engine';
import { loadFilters } from '@millrace/templates/template-filters-page';
import { loadPatternEngine } from '@millrace/values/pattern-engine-page';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { FormContext, type FormContextValue } from '../form/form-context.tsx';
import { createInsertTargets, InsertTargetContext } from '../form/insert-target.ts';
import { useKnownOutputs } from '../pins/use-known-outputs.ts';
import { loadTemplateEditor } from '../templates/template-input.tsx';

void loadTemplateEditor();
// Templates are rendered while they are typed.
await Promise.all([loadFilters(), loadPatternEngine()]);

export interface NodeFormProps {
  nodeId: string;
  /** Pointer within the node to the edited value: `/data/config`. */
  base: string;
  takesTemplates?: boolean;
  /** Only values below this pointer accept templates. */
  templatesBelow?: string;
  /** Just added. */
  isNew?: boolean;
  children: ReactNode;
}

/** The context of a node's form: its problems, and what its templates can read. */
export function NodeForm({
  nodeId,
  base,
  takesTemplates = true,
  templatesBelow = '',
  isNew = false,
  children,
}: NodeFormProps) {
  const { nodes, edges, settings, sample, problems, isReadOnly, nodeTypes } = useEditorState(
    'nodes',
    'edges',
    'settings',
    'sample',
    'problems',
    'isReadOnly',
    'nodeTypes',
  );
  const outputs = useKnownOutputs(nodeId);

  const flow = useMemo(() => ({ nodes, edges, settings }), [nodes, edges, settings]);
  const known = useMemo(
    () => ({ sample: sample as JsonValue, outputs, namesOf: namesIn(flow, nodeTypes, outputs) }),
    [sample, outputs, flow, nodeTypes],
  );
  const [targets] = useState(createInsertTargets);
  const sources = useCallback(() => listSources(flow, nodeId, known).flat(), [flow, nodeId, known]);
  const hints = useCallback(() => listHints(flow, nodeId, known), [flow, nodeId, known]);
  const preview = useCallback((text: string) => previewOf(text, flow, nodeId, known), [flow, nodeId, known]);
  const nodeSchemas = useMemo(() => schemasOf(nodeTypes), [nodeTypes]);

  const value = useMemo<FormContextValue>(() => {
    const index = nodes.findIndex(({ id }) => id === nodeId);
    const type = nodeTypes.get(nodes[index]?.type ?? '');
    const prefix = `/flow_data/nodes/${index}${base}`;
    const own = problems
      .filter((problem) => problem.node_id === nodeId && problem.pointer.startsWith(prefix))
      .map((problem) => ({ ...withoutNode(problem, type), pointer: problem.pointer.slice(prefix.length) }));
    return {
      isReadOnly,
      isNew,
      takesTemplates,
      templatesBelow,
      problems: own,
      hints,
      preview,
      sources,
      nodeSchemas,
      whole: wholeAt(nodes[index], base),
    };
  }, [
    nodes,
    nodeId,
    base,
    problems,
    isReadOnly,
    isNew,
    takesTemplates,
    templatesBelow,
    hints,
    preview,
    sources,
    nodeSchemas,
    nodeTypes,
  ]);

  return (
    <FormContext value={value}>
      <InsertTargetContext value={targets}>{children}</InsertTargetContext>
    </FormContext>
  );
}

/** What a pointer of names leads to in a node. */
function wholeAt(node: FlowNode | undefined, base: string): JsonValue {
  return base
    .split('/')
    .slice(1)
    .reduce<JsonValue>(
      (value, name) => (isJsonObject(value) ? (value[name] ?? null) : null),
      (node ?? null) as JsonValue,
    );
}

/** Types that can't be nested in another node, as an agent's tool or an approval's message. */
const NEVER_INSIDE = new Set([
  'ai.agent',
  'core.delay',
  'wait.callback',
  'wait.approval',
  'webhook.respond',
  'core.stop',
]);

function schemasOf(types: ReadonlyMap<string, KnownType>): NonNullable<FormContextValue['nodeSchemas']> {
  const fitting = [...types.values()]
    .filter(isWhole)
    .filter(({ type, kind }) => (kind === 'effect' || kind === 'pure') && !NEVER_INSIDE.has(type));
  return new Map(fitting.map((node) => [node.type, { title: node.title, schema: node.config_schema, node }]));
}
