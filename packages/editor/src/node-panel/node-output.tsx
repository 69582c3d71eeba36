import { Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useEditor } from '@millrace/editor-model/store.ts';
import { own, templateStep } from '@millrace/engine';
import { JsonViewer } from '@millrace/ui/components/json-viewer.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { Pin } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { PinEditor } from '../pins/pin-editor.tsx';
import { useLastOutput } from '../pins/use-known-outputs.ts';
import { usePin } from '../pins/use-pin.ts';
import { ExecutionLink } from './execution-link.tsx';
import { RunLine } from './run-line.tsx';

/** A node's output in the run on the canvas, else in the last execution; and its pinned output. */
export function NodeOutput({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const run = useEditor((state) => own(state.runs, nodeId));
  const former = useLastOutput(nodeId, run === undefined);
  const pin = usePin(nodeId);
  const mayPin = useMayPin(nodeId);
  const output = run === undefined ? former.output : run.output;
  // Before it is known, nothing is said of whether the node has run.
  if (former.isLoading && pin.output === undefined) return <Skeleton h={80} />;
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
      {run === undefined && former.output === undefined && pin.output === undefined && (
        <Muted>{t('forms.noOutput')}</Muted>
      )}
      {run !== undefined && <RunLine run={run} />}
      {run === undefined && former.output !== undefined && former.execution !== undefined && (
        <Group gap={6}>
          <Hint>{t('forms.formerOutput')}</Hint>
          <ExecutionLink id={former.execution.execution.id} />
          <Moment at={former.execution.execution.created_at} />
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
