import { Accordion, Button, Group, Stack, Text } from '@mantine/core';
import { PinEditor } from '@millrace/editor/pins/pin-editor.tsx';
import {
  useLastExecution,
  useLoadLastOutputs,
  useOutputsOf,
} from '@millrace/editor/pins/use-known-outputs.ts';
import { upstreamOf } from '@millrace/editor-model/flow-scope.ts';
import { titleOf } from '@millrace/editor-model/flow-value.ts';
import { useEditor, useEditorState } from '@millrace/editor-model/store.ts';
import { type JsonObject, own } from '@millrace/engine';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Pin, Play } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';
import { outputsBefore } from './use-trial.ts';

/** Runs the selected node alone, with pinned outputs as its input, else those of the last execution. */
export function RunOneNode({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const { trial } = useEditorPage();
  const { nodes, nodeTypes } = useEditorState('nodes', 'nodeTypes');
  const [broken, setBroken] = useState<ReadonlySet<string>>(new Set());
  const node = nodes.find(({ id }) => id === nodeId);
  const { upstream, known, run } = useRunOneNode(nodeId);
  const kind = nodeTypes.get(node?.type ?? '')?.kind;
  if (node === undefined || kind === 'trigger') return null;
  if (node.parentId != null) {
    return <Hint>{t('trying.insideLoop')}</Hint>;
  }
  const title = titleOf(node, nodeTypes);
  return (
    <Stack
      gap={6}
      className="editor-one-node"
      component="section"
      aria-label={t('trying.oneNode', { title })}
    >
      <Group gap="xs" justify="space-between">
        <Text size="sm" fw={500} truncate maw={200}>
          {title}
        </Text>
        <Button
          variant="default"
          leftSection={<Play size={14} />}
          disabled={broken.size > 0 || trial.isBusy}
          loading={trial.isStarting}
          onClick={() => void run()}
        >
          {t('trying.runNode')}
        </Button>
      </Group>
      {upstream.length > 0 && (
        <>
          <Hint>{t('trying.pinHint')}</Hint>
          <Accordion variant="separated" chevronPosition="left">
            {upstream.map((id) => (
              <Upstream
                key={id}
                nodeId={id}
                known={own(known, id)}
                onValidity={(isValid) => setBroken((all) => withOrWithout(all, id, !isValid))}
              />
            ))}
          </Accordion>
        </>
      )}
    </Stack>
  );
}

/** Runs a node alone, with what it reads. */
export function useRunOneNode(nodeId: string): {
  /** Nodes that it reads and whose output can be pinned. */
  readonly upstream: readonly string[];
  readonly known: { readonly [nodeId: string]: JsonObject };
  readonly run: () => Promise<void>;
} {
  const { trial, runForm } = useEditorPage();
  const pins = useEditor((state) => state.pins);
  const upstream = usePinnable(nodeId);
  const known = useOutputsToRead(upstream);
  const loadLast = useLoadLastOutputs();
  const run = async () => {
    try {
      // In a menu it may be clicked before they are there.
      const last = await loadLast(
        upstream.filter((id) => !Object.hasOwn(pins, id) && !Object.hasOwn(known, id)),
      );
      const pinned = upstream.flatMap((id): [string, JsonObject][] => {
        const output = own(pins, id) ?? own(known, id) ?? own(last, id);
        return output === undefined ? [] : [[id, output]];
      });
      await trial.start({
        ...runForm.request(),
        only_node: nodeId,
        pinned_outputs: Object.fromEntries(pinned),
      });
    } catch (error) {
      notifyFailure(error as Error);
    }
  };
  return { upstream, known, run };
}

/** A node whose output the selected node may read. */
function Upstream({
  nodeId,
  known,
  onValidity,
}: {
  nodeId: string;
  known: JsonObject | undefined;
  onValidity: (isValid: boolean) => void;
}) {
  const { t } = useTranslation();
  const node = useEditor((state) => state.nodes.find(({ id }) => id === nodeId));
  const nodeTypes = useEditor((state) => state.nodeTypes);
  const isPinned = useEditor((state) => Object.hasOwn(state.pins, nodeId));
  const title = node === undefined ? nodeId : titleOf(node, nodeTypes);
  const note = isPinned ? t('trying.pinned') : known === undefined ? t('trying.noOutput') : null;
  return (
    <Accordion.Item value={nodeId}>
      <Accordion.Control icon={isPinned ? <Pin size={12} aria-hidden /> : undefined}>
        <Text size="xs">
          {title}
          {note !== null && ` · ${note}`}
        </Text>
      </Accordion.Control>
      <Accordion.Panel>
        <PinEditor
          nodeId={nodeId}
          known={known}
          label={t('trying.pinOf', { title })}
          onValidity={onValidity}
        />
      </Accordion.Panel>
    </Accordion.Item>
  );
}

/** The trigger's output is the input, and nodes in loops have many outputs. */
function usePinnable(nodeId: string): readonly string[] {
  const { nodes, edges, nodeTypes } = useEditorState('nodes', 'edges', 'nodeTypes');
  return useMemo(
    () =>
      upstreamOf({ nodes, edges }, nodeId).filter((id) => {
        const before = nodes.find((each) => each.id === id);
        return before?.parentId == null && nodeTypes.get(before?.type ?? '')?.kind !== 'trigger';
      }),
    [nodes, edges, nodeId, nodeTypes],
  );
}

/** From the run on the canvas, else from the workflow's last execution. */
function useOutputsToRead(upstream: readonly string[]): { readonly [nodeId: string]: JsonObject } {
  const runs = useEditor((state) => state.runs);
  const now = outputsBefore(upstream, runs);
  const missing = upstream.filter((id) => !Object.hasOwn(now, id));
  const last = useLastExecution();
  return { ...useOutputsOf(last, missing), ...now };
}

function withOrWithout(all: ReadonlySet<string>, id: string, isIn: boolean): ReadonlySet<string> {
  if (all.has(id) === isIn) return all;
  const next = new Set(all);
  if (isIn) next.add(id);
  else next.delete(id);
  return next;
}
