import '@millrace/ui/i18n/parts/setting.ts';
import '@millrace/ui/i18n/parts/trying.ts';
import '@millrace/ui/i18n/parts/canvas.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import '@millrace/ui/i18n/service/whole.ts';
import './node-panel.css';
import {
  Alert,
  Anchor,
  Badge,
  Box,
  Button,
  Code,
  Group,
  Menu,
  ScrollArea,
  Stack,
  Tabs,
  Text,
  TextInput,
  Tooltip,
} from '@mantine/core';
import { isWhole, type NodeType } from '@millrace/editor-model/editor-state.ts';
import { shapeOf } from '@millrace/editor-model/field-shape.ts';
import { problemText } from '@millrace/editor-model/problem-text.ts';
import { useEditor, useEditorState } from '@millrace/editor-model/store.ts';
import type { FlowNode, JsonObject } from '@millrace/engine';
import { CopyIcon } from '@millrace/ui/components/copy.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { WithCode } from '@millrace/ui/components/with-code.tsx';
import { Pin, Replace, TriangleAlert } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FITTING_MENU, TriggerLines } from '../canvas/node-menu-items.tsx';
import { needsConnectors, useWholeTypes } from '../canvas/use-connectors.ts';
import { Field } from '../fields/field.tsx';
import { GroupFields } from '../fields/group-fields.tsx';
import { focusFirstEmpty, WHOLE_FORM } from '../form/first-empty.ts';
import { SchedulePreview } from '../schedule/schedule-preview.tsx';
import { NodeForm, type NodeFormProps } from './node-form.tsx';
import { NodeOutput } from './node-output.tsx';
import { NodeSettings } from './node-settings.tsx';
import { WebhookPanel } from './webhook-panel.tsx';
import { WebhookSender } from './webhook-sender.tsx';
import { WithData } from './with-data.tsx';

const FormPanel = lazyPart(async () => (await import('./form-panel.tsx')).FormPanel);
const ChatPanel = lazyPart(async () => (await import('./chat-panel.tsx')).ChatPanel);
const MemoryPanel = lazyPart(async () => (await import('./memory-panel.tsx')).MemoryPanel);
const PollStatus = lazyPart(async () => (await import('../polling/poll-status.tsx')).PollStatus);

/** A node's panel: its config, error handling, last output, and help. */
export function NodePanel({
  nodeId,
  takesFocus = false,
  focusedBefore,
  helpAsked = 0,
}: {
  nodeId: string;
  /** Focuses the first field that has to be filled in. */
  takesFocus?: boolean;
  /** What it may take the focus from. */
  focusedBefore?: RefObject<Element | null>;
  /** Shows the help whenever it changes, and at first unless it is 0. */
  helpAsked?: number;
}) {
  const node = useEditor((state) => state.nodes.find(({ id }) => id === nodeId));
  const type = useEditor((state) => (node === undefined ? undefined : state.nodeTypes.get(node.type)));
  const { areThere, error, retry } = useWholeTypes({
    ofConnectors: useEditor(({ nodes }) => nodes.some(needsConnectors)),
  });
  if (node === undefined) return null;
  // Once there, they are shown with the next render.
  const whole = isWhole(type) ? type : undefined;
  if (whole === undefined && (type !== undefined || !areThere))
    return error === null ? <LoadingRows /> : <ErrorState error={error} onRetry={retry} />;
  return <Panel key={nodeId} node={node} type={whole} {...{ takesFocus, focusedBefore, helpAsked }} />;
}

/** What somebody may be typing into. */
const TYPED_INTO = 'input, textarea, [contenteditable="true"]';

/** Whether somebody has gone on while the panel was loading, such as to a button, or types into the palette for the next node. */
function isElsewhere(panel: Element | null, before: Element | null): boolean {
  const { activeElement: focused, body } = document;
  if (focused === null || focused === body) return false;
  if (focused.matches(TYPED_INTO)) return true;
  // The drawer of a narrow window takes the focus before what is in it appears.
  return focused !== before && panel?.closest('[role="dialog"]')?.contains(focused) !== true;
}

type Tab = 'configure' | 'behaviour' | 'output' | 'help';

function Panel({
  node,
  type,
  takesFocus,
  focusedBefore,
  helpAsked,
}: {
  node: FlowNode;
  type: NodeType | undefined;
  takesFocus: boolean;
  focusedBefore: RefObject<Element | null> | undefined;
  helpAsked: number;
}) {
  const { t } = useTranslation();
  const [tab, setTab] = useState<Tab>('configure');
  useEffect(() => {
    if (helpAsked > 0) setTab('help');
  }, [helpAsked]);
  const marks = useTabMarks(node.id);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!takesFocus || isElsewhere(frame.current, focusedBefore?.current ?? null)) return;
    focusFirstEmpty(frame.current);
  }, [takesFocus, focusedBefore]);
  return (
    <Stack gap={0} h="100%" ref={frame} {...WHOLE_FORM}>
      <PanelHead node={node} />
      <Tabs
        value={tab}
        onChange={(next) => setTab(next as Tab)}
        keepMounted={false}
        flex={1}
        mih={0}
        display="flex"
        style={{ flexDirection: 'column' }}
      >
        <Tabs.List px="sm" style={{ flexWrap: 'nowrap', overflowX: 'auto' }}>
          <Tabs.Tab px="sm" value="configure" rightSection={marks.configure}>
            {t('forms.configure')}
          </Tabs.Tab>
          {type?.kind !== 'trigger' && (
            <Tabs.Tab px="sm" value="behaviour" rightSection={marks.behaviour}>
              {t('forms.behaviour')}
            </Tabs.Tab>
          )}
          <Tabs.Tab px="sm" value="output" rightSection={marks.output}>
            {t('forms.output')}
          </Tabs.Tab>
          {type !== undefined && (
            <Tabs.Tab px="sm" value="help">
              {t('forms.help')}
            </Tabs.Tab>
          )}
        </Tabs.List>
        <ScrollArea flex={1} mih={0} type="auto">
          <Box p="sm">
            <Tabs.Panel value="configure">
              <Configure node={node} type={type} isNew={takesFocus} />
            </Tabs.Panel>
            <Tabs.Panel value="behaviour">
              <NodeSettings node={node} type={type} />
            </Tabs.Panel>
            <Tabs.Panel value="output">
              <NodeOutput nodeId={node.id} />
            </Tabs.Panel>
            <Tabs.Panel value="help">{type !== undefined && <Help node={node} type={type} />}</Tabs.Panel>
          </Box>
        </ScrollArea>
      </Tabs>
    </Stack>
  );
}

/** Marks on tabs that need attention. */
function useTabMarks(nodeId: string): { readonly [T in Tab]?: ReactNode } {
  const { t } = useTranslation();
  const isPinned = useEditor((state) => Object.hasOwn(state.pins, nodeId));
  const pointers = useEditor((state) => state.problems)
    .filter((problem) => problem.node_id === nodeId)
    .map(({ pointer }) => pointer.replace(/^\/flow_data\/nodes\/\d+/, ''));
  const problem = (isThere: boolean) =>
    isThere ? (
      <TriangleAlert size={12} aria-label={t('forms.hasProblem')} color="var(--mantine-color-orange-6)" />
    ) : null;
  return {
    configure: problem(pointers.some((pointer) => /^\/data\/config(\/|$)/.test(pointer))),
    behaviour: problem(pointers.some((pointer) => /^\/data\/(?!config(\/|$))./.test(pointer))),
    output: isPinned ? <Pin size={12} aria-label={t('canvas.pinned')} /> : null,
  };
}

function PanelHead({ node }: { node: FlowNode }) {
  const { t } = useTranslation();
  const { changeNode, isReadOnly } = useEditorState('changeNode', 'isReadOnly');
  const isTrigger = useEditor((state) => state.nodeTypes.get(node.type)?.kind === 'trigger');
  // Config problems are shown at their fields.
  const problems = useEditor((state) => state.problems).filter(
    ({ node_id: id, pointer }) => id === node.id && !/^\/flow_data\/nodes\/\d+\/data\/./.test(pointer),
  );
  return (
    <Stack gap={6} p="sm" pb="xs">
      <Group gap={6} wrap="nowrap">
        <TextInput
          flex={1}
          aria-label={t('setting.ofNode.label')}
          placeholder={node.id}
          value={node.data?.label ?? ''}
          readOnly={isReadOnly}
          onChange={({ currentTarget: { value } }) =>
            changeNode(node.id, 'label', (old) => withLabel(old, value))
          }
        />
        <Tooltip label={t('forms.idHint', { id: node.id })} multiline maw={260}>
          <Badge color="gray" tt="none" ff="monospace" maw={140}>
            {node.id}
          </Badge>
        </Tooltip>
        {isTrigger ? (
          !isReadOnly && <TriggerMenu node={node} />
        ) : (
          <CopyIcon text={`{{nodes.${node.id}.output}}`} label={t('forms.copyPath')} />
        )}
      </Group>
      {problems.map((problem) => (
        <Alert
          key={`${problem.code} ${problem.pointer}`}
          color="orange"
          p="xs"
          icon={<TriangleAlert size={14} />}
        >
          <Text size="xs">{problemText(problem)}</Text>
        </Alert>
      ))}
    </Stack>
  );
}

function TriggerMenu({ node }: { node: FlowNode }) {
  const { t } = useTranslation();
  return (
    <Menu {...FITTING_MENU} position="bottom-end" withinPortal>
      <Menu.Target>
        <IconButton icon={Replace} label={t('editor.changeTrigger')} size="sm" />
      </Menu.Target>
      <Menu.Dropdown>
        <TriggerLines node={node} />
      </Menu.Dropdown>
    </Menu>
  );
}

function withLabel(node: FlowNode, label: string): FlowNode {
  const { label: _old, ...data } = node.data ?? {};
  return { ...node, data: label === '' ? data : { ...data, label } };
}

function Configure({ node, type, isNew }: { node: FlowNode; type: NodeType | undefined; isNew: boolean }) {
  const { t } = useTranslation();
  const changeNode = useEditor((state) => state.changeNode);
  const config = node.data?.config ?? {};
  const setConfig = (next: JsonObject) =>
    changeNode(node.id, 'config', (old) => ({ ...old, data: { ...old.data, config: next } }));
  if (type === undefined) {
    return (
      <Alert color="red" title={t('forms.unknownType', { type: node.type })}>
        <Code block>{JSON.stringify(config, null, 2)}</Code>
      </Alert>
    );
  }
  const shape = shapeOf(type.config_schema);
  return (
    <NodeForm nodeId={node.id} base="/data/config" isNew={isNew} {...templatesOf(type)}>
      <WithData nodeId={node.id} hasData={type.kind !== 'trigger'}>
        <Stack gap="md">
          {node.type === 'trigger.webhook' && <WebhookPanel nodeId={node.id} />}
          {node.type === 'trigger.form' && <FormPanel nodeId={node.id} />}
          {node.type === 'trigger.chat' && <ChatPanel />}
          {node.type === 'trigger.webhook' && <WebhookSender config={config} onChange={setConfig} />}
          {shape.kind === 'group' ? (
            <GroupFields Field={Field} shape={shape} value={config} onChange={setConfig} pointer="" />
          ) : (
            <Muted>{t('forms.nothingToConfigure')}</Muted>
          )}
          {(config.memory_key ?? '') !== '' && <MemoryPanel />}
          {node.type === 'trigger.schedule' && <SchedulePreview config={config} />}
          {(polls(type) || LISTENING.test(node.type)) && (
            <PollStatus nodeId={node.id} isListening={LISTENING.test(node.type)} />
          )}
        </Stack>
      </WithData>
    </NodeForm>
  );
}

/** Whether a trigger asks at an interval. */
function polls({ kind, config_schema: { properties } }: NodeType): boolean {
  return kind === 'trigger' && Object.hasOwn((properties ?? {}) as object, 'interval_s');
}

/** Triggers that are told of what they start executions for. */
const LISTENING = /^trigger\.(email|redis|mqtt|kafka|postgresql|sqs)$/;

/** Triggers read no values; only a webhook's response is rendered, after all nodes have ended. */
function templatesOf({ kind, type }: NodeType): Pick<NodeFormProps, 'takesTemplates' | 'templatesBelow'> {
  if (type === 'trigger.webhook') return { templatesBelow: '/response' };
  return { takesTemplates: kind !== 'trigger' };
}

/** The part of the documentation about a node, which also lists its settings. */
function referenceOf({ type }: NodeType): string {
  return `/docs/guides/nodes#${type.replaceAll('.', '')}`;
}

function Help({ node, type }: { node: FlowNode; type: NodeType }) {
  const { t } = useTranslation();
  const { changeNode, isReadOnly } = useEditorState('changeNode', 'isReadOnly');
  return (
    <Stack gap="sm">
      <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
        <WithCode text={type.description} />
      </Text>
      <Anchor size="sm" href={referenceOf(type)} target="_blank">
        {t('forms.nodeReference')}
      </Anchor>
      {type.examples.map(({ title, config }) => (
        <Stack key={title} gap={4}>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Text size="sm" fw={500}>
              {title}
            </Text>
            {!isReadOnly && (
              <Button
                variant="default"
                size="compact-xs"
                aria-label={t('forms.useExampleOf', { title, label: node.data?.label ?? node.id })}
                onClick={() =>
                  changeNode(node.id, 'example', (old) => ({ ...old, data: { ...old.data, config } }))
                }
              >
                {t('forms.useExample')}
              </Button>
            )}
          </Group>
          <Code block fz="xs" tabIndex={0}>
            {JSON.stringify(config, null, 2)}
          </Code>
        </Stack>
      ))}
    </Stack>
  );
}
