import { Button, Code, Group, Stack, Text } from '@mantine/core';
import type { NodeRun } from '@millrace/editor-model/editor-state.ts';
import { own } from '@millrace/editor-model/flow-value.ts';
import { useEditor } from '@millrace/editor-model/store.ts';
import { type JsonObject, templateStep } from '@millrace/engine';
import { JsonViewer } from '@millrace/ui/components/json-viewer.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { Pin } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { PinEditor } from '../pins/pin-editor.tsx';
import { useLastExecution, useOutputsOf } from '../pins/use-known-outputs.ts';
import { usePin } from '../pins/use-pin.ts';
import { ExecutionLink } from './execution-link.tsx';
import { RunLine } from './run-line.tsx';

/** A node's output in the run on the canvas, else in the last execution; and its pinned output. */
export function NodeOutput({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const run = useEditor((state) => own(state.runs, nodeId));
  const former = useFormerOutput(nodeId, run);
  const pin = usePin(nodeId);
  const mayPin = useMayPin(nodeId);
  const output = run?.output ?? former?.output;
  return (
    <Stack gap="sm">
      {mayPin && pin.output !== undefined && (
        <Stack gap={6} component="section" aria-label={t('canvas.pinned')}>
          <Group gap={6}>
            <Pin size={14} aria-hidden />
            <Text size="sm" fw={500}>
              {t('canvas.pinned')}
            </Text>
          </Group>
          <PinEditor nodeId={nodeId} label={t('forms.pinnedOutput')} />
        </Stack>
      )}
      {run === undefined && former === null && pin.output === undefined && (
        <Muted>{t('forms.noOutput')}</Muted>
      )}
      {run !== undefined && <RunLine run={run} />}
      {run === undefined && former !== null && (
        <Group gap={6}>
          <Hint>{t('forms.formerOutput')}</Hint>
          <ExecutionLink id={former.executionId} />
          <Moment at={former.at} />
        </Group>
      )}
      {run?.error !== undefined && (
        <Code block color="var(--mantine-color-red-light)" style={{ whiteSpace: 'pre-wrap' }}>
          {`${run.error.code}: ${translateMessage(run.error)}`}
        </Code>
      )}
      {mayPin && pin.output === undefined && (
        <Button
          variant="default"
          size="compact-sm"
          w="fit-content"
          leftSection={<Pin size={13} />}
          onClick={() => pin.set(output ?? {})}
        >
          {t(output === undefined ? 'forms.writeOutput' : 'forms.pinThis')}
        </Button>
      )}
      {output !== undefined && (
        <JsonViewer
          value={output}
          label={t('forms.output')}
          fileName={`${nodeId}.json`}
          pathPrefix={`nodes${templateStep(nodeId)}.output`}
        />
      )}
    </Stack>
  );
}

/** The trigger's output is the input, and nodes in loops have many outputs. */
function useMayPin(nodeId: string): boolean {
  const node = useEditor((state) => state.nodes.find(({ id }) => id === nodeId));
  const kind = useEditor((state) => state.nodeTypes.get(node?.type ?? '')?.kind);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  return !isReadOnly && node !== undefined && node.parentId == null && kind !== 'trigger';
}

/** Null: the last execution has no known output either. */
function useFormerOutput(
  nodeId: string,
  run: NodeRun | undefined,
): { readonly output: JsonObject; readonly executionId: number; readonly at: string } | null {
  const last = useLastExecution();
  const outputs = useOutputsOf(run === undefined ? last : undefined, [nodeId]);
  const output = own(outputs, nodeId);
  if (output === undefined || last === undefined) return null;
  return { output, executionId: last.execution.id, at: last.execution.created_at };
}
