import { Accordion, Button, Group, Stack, Text } from '@mantine/core';
import { isJsonObject, type JsonObject, parseJson } from '@millrace/engine';
import { Pin, Play } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { titleOf } from '../../../canvas/flow-value.ts';
import { useEditor } from '../../../canvas/store.ts';
import { upstreamOf } from '../../../forms/template-scope.ts';
import { Code } from '../../../ui/code.tsx';
import { useEditorPage } from '../editor-context.ts';
import { outputsBefore, type RunBody } from './use-trial.ts';

/** Runs the selected node alone: what it reads is taken from the last run, or pinned here. */
export function RunOneNode({
  nodeId,
  request,
  isTest,
}: {
  readonly nodeId: string;
  readonly request: () => RunBody;
  readonly isTest: boolean;
}) {
  const { t } = useTranslation();
  const { trial } = useEditorPage();
  const nodes = useEditor((state) => state.nodes);
  const edges = useEditor((state) => state.edges);
  const nodeTypes = useEditor((state) => state.nodeTypes);
  const runs = useEditor((state) => state.runs);
  /** Texts by node id, as they were written here. */
  const [pins, setPins] = useState<{ readonly [nodeId: string]: string }>({});
  const node = nodes.find(({ id }) => id === nodeId);
  const upstream = useMemo(
    () =>
      upstreamOf({ nodes, edges }, nodeId).filter((id) => {
        const before = nodes.find((each) => each.id === id);
        // The trigger's output is the input, and outputs inside of loops are many.
        return before?.parentId == null && nodeTypes.get(before?.type ?? '')?.kind !== 'trigger';
      }),
    [nodes, edges, nodeId, nodeTypes],
  );
  const kind = nodeTypes.get(node?.type ?? '')?.kind;
  if (node === undefined || kind === 'trigger' || node.parentId != null) return null;
  const known = outputsBefore(upstream, runs);
  const pinned = Object.fromEntries(Object.entries(pins).map(([id, text]) => [id, readObject(text)]));
  const isValid = Object.values(pinned).every((value) => value !== null);
  const run = () => {
    const body = request();
    void trial.start({
      ...body,
      is_test_mode: isTest,
      only_node: nodeId,
      pinned_outputs: { ...known, ...(pinned as { readonly [id: string]: JsonObject }) },
    });
  };
  return (
    <Stack gap={6} className="editor-one-node">
      <Group gap="xs" justify="space-between">
        <Text size="sm" fw={500} truncate maw={200}>
          {titleOf(node, nodeTypes)}
        </Text>
        <Button
          variant="default"
          leftSection={<Play size={14} />}
          disabled={!isValid || trial.isUnderWay}
          loading={trial.isStarting}
          onClick={run}
        >
          {t('editor.trying.runNode')}
        </Button>
      </Group>
      {upstream.length > 0 && (
        <>
          <Text size="xs" c="dimmed">
            {t('editor.trying.pinHint')}
          </Text>
          <Accordion variant="separated" chevronPosition="left">
            {upstream.map((id) => {
              const before = nodes.find((each) => each.id === id);
              const text = pins[id] ?? JSON.stringify(known[id] ?? {}, null, 2);
              return (
                <Accordion.Item key={id} value={id}>
                  <Accordion.Control
                    icon={id in pins ? <Pin size={12} aria-label={t('editor.trying.pinned')} /> : undefined}
                  >
                    <Text size="xs">
                      {before === undefined ? id : titleOf(before, nodeTypes)}
                      {id in pins || id in known ? '' : ` · ${t('editor.trying.noOutput')}`}
                    </Text>
                  </Accordion.Control>
                  <Accordion.Panel>
                    <Code
                      value={text}
                      language="json"
                      label={t('editor.trying.pinOf', { title: id })}
                      minHeight={60}
                      maxHeight={180}
                      onChange={(next) => {
                        if (next !== text) setPins((all) => ({ ...all, [id]: next }));
                      }}
                    />
                  </Accordion.Panel>
                </Accordion.Item>
              );
            })}
          </Accordion>
        </>
      )}
    </Stack>
  );
}

function readObject(text: string): JsonObject | null {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
