import {
  Alert,
  Badge,
  Box,
  Button,
  Code,
  Group,
  ScrollArea,
  Stack,
  Tabs,
  Text,
  TextInput,
  Tooltip,
} from '@mantine/core';
import type { FlowNode, JsonObject } from '@millrace/engine';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { NodeType } from '../canvas/editor-state.ts';
import { useEditor } from '../canvas/store.ts';
import { CopyIcon } from '../ui/copy.tsx';
import { Field } from './field.tsx';
import { shapeOf } from './field-shape.ts';
import { NodeForm } from './node-form.tsx';
import { NodeOutput } from './node-output.tsx';
import { NodeSettings } from './node-settings.tsx';
import { SchedulePreview } from './schedule-preview.tsx';
import { GroupFields } from './structured-input.tsx';
import { WebhookPanel } from './webhook-panel.tsx';

/** Everything of one node: what it does, how it behaves when something fails, what it last put out, and help. */
export function NodePanel({ nodeId }: { readonly nodeId: string }) {
  const node = useEditor((state) => state.nodes.find(({ id }) => id === nodeId));
  const type = useEditor((state) => (node === undefined ? undefined : state.nodeTypes.get(node.type)));
  if (node === undefined) return null;
  return <Panel key={nodeId} node={node} type={type} />;
}

type Tab = 'configure' | 'behaviour' | 'output' | 'help';

function Panel({ node, type }: { readonly node: FlowNode; readonly type: NodeType | undefined }) {
  const { t } = useTranslation();
  const [tab, setTab] = useState<Tab>('configure');
  return (
    <Stack gap={0} h="100%">
      <PanelHead node={node} type={type} />
      <Tabs
        value={tab}
        onChange={(next) => setTab(next as Tab)}
        keepMounted={false}
        flex={1}
        mih={0}
        display="flex"
        style={{ flexDirection: 'column' }}
      >
        <Tabs.List px="sm">
          <Tabs.Tab value="configure">{t('forms.configure')}</Tabs.Tab>
          {type?.kind !== 'trigger' && <Tabs.Tab value="behaviour">{t('forms.behaviour')}</Tabs.Tab>}
          <Tabs.Tab value="output">{t('forms.output')}</Tabs.Tab>
          {type !== undefined && <Tabs.Tab value="help">{t('forms.help')}</Tabs.Tab>}
        </Tabs.List>
        <ScrollArea flex={1} mih={0} type="auto">
          <Box p="sm">
            <Tabs.Panel value="configure">
              <Configure node={node} type={type} />
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

function PanelHead({ node, type }: { readonly node: FlowNode; readonly type: NodeType | undefined }) {
  const { t } = useTranslation();
  const changeNode = useEditor((state) => state.changeNode);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const problems = useEditor((state) => state.problems).filter(({ node_id }) => node_id === node.id);
  return (
    <Stack gap={6} p="sm" pb="xs">
      <Group gap={6} justify="space-between" wrap="nowrap">
        <Text size="xs" c="dimmed" truncate>
          {type?.title ?? node.type}
        </Text>
        <Group gap={2} wrap="nowrap">
          <Tooltip label={t('forms.idHint', { id: node.id })} multiline maw={260}>
            <Badge color="gray" tt="none" ff="monospace" maw={180}>
              {node.id}
            </Badge>
          </Tooltip>
          <CopyIcon text={`{{nodes.${node.id}.output}}`} label={t('forms.copyPath')} />
        </Group>
      </Group>
      <TextInput
        aria-label={t('forms.label')}
        placeholder={node.id}
        value={node.data?.label ?? ''}
        readOnly={isReadOnly}
        onChange={({ currentTarget: { value } }) =>
          changeNode(node.id, 'label', (old) => withLabel(old, value))
        }
      />
      {problems.map(({ code, pointer, message }) => (
        <Alert key={`${code} ${pointer}`} color="orange" p="xs" icon={<TriangleAlert size={14} />}>
          <Text size="xs">{message}</Text>
        </Alert>
      ))}
    </Stack>
  );
}

function withLabel(node: FlowNode, label: string): FlowNode {
  const { label: _old, ...data } = node.data ?? {};
  return { ...node, data: label === '' ? data : { ...data, label } };
}

function Configure({ node, type }: { readonly node: FlowNode; readonly type: NodeType | undefined }) {
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
    <NodeForm nodeId={node.id} base="/data/config">
      <Stack gap="md">
        {shape.kind === 'group' ? (
          <GroupFields Field={Field} fields={shape.fields} value={config} onChange={setConfig} pointer="" />
        ) : (
          <Text size="sm" c="dimmed">
            {t('forms.nothingToConfigure')}
          </Text>
        )}
        {node.type === 'trigger.webhook' && <WebhookPanel />}
        {node.type === 'trigger.schedule' && <SchedulePreview config={config} />}
      </Stack>
    </NodeForm>
  );
}

function Help({ node, type }: { readonly node: FlowNode; readonly type: NodeType }) {
  const { t } = useTranslation();
  const changeNode = useEditor((state) => state.changeNode);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  return (
    <Stack gap="sm">
      <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
        {type.description}
      </Text>
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
