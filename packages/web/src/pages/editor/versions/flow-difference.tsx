import { Box, Group, List, ScrollArea, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import type { Flow, FlowNode } from '@millrace/engine';
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DiffSign } from '../../../canvas/diff-sign.tsx';
import { titleOf } from '../../../canvas/flow-value.ts';
import { FlowView, useNodeTypes } from '../../../canvas/flow-view.tsx';
import { diffFlows, flowText } from './flow-diff.ts';

const JsonDiff = lazy(() => import('./json-diff.tsx'));

/** What is different between two flows: as a picture with marks and a list, or line by line. */
export function FlowDifferenceView({
  before,
  after,
  labels,
  height = '52vh',
}: {
  readonly before: Flow;
  readonly after: Flow;
  /** What they are called: `Version 3`, `Your changes`. */
  readonly labels: readonly [before: string, after: string];
  readonly height?: string;
}) {
  const { t } = useTranslation();
  const [view, setView] = useState<'picture' | 'json'>('picture');
  const difference = useMemo(() => diffFlows(before, after), [before, after]);
  const texts = useMemo(() => ({ before: flowText(before), after: flowText(after) }), [before, after]);
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {labels[0]} → {labels[1]}
        </Text>
        <SegmentedControl
          size="xs"
          value={view}
          onChange={(next) => setView(next as 'picture' | 'json')}
          data={[
            { value: 'picture', label: t('editor.versions.picture') },
            { value: 'json', label: 'JSON' },
          ]}
        />
      </Group>
      {difference.isSame && <Text size="sm">{t('editor.versions.same')}</Text>}
      {view === 'picture' ? (
        <Group align="stretch" gap="sm" wrap="wrap">
          <Box flex="2 1 320px" h={height} className="editor-frame-box">
            <FlowView flow={difference.union} marks={difference.marks} />
          </Box>
          <ScrollArea flex="1 1 220px" mah={height} type="auto">
            <Changes before={before} after={after} />
          </ScrollArea>
        </Group>
      ) : (
        <ScrollArea h={height} type="auto">
          <Suspense fallback={<Skeleton h={200} />}>
            <JsonDiff {...texts} labels={labels} />
          </Suspense>
        </ScrollArea>
      )}
    </Stack>
  );
}

function Changes({ before, after }: { readonly before: Flow; readonly after: Flow }) {
  const { t } = useTranslation();
  const nodeTypes = useNodeTypes();
  const difference = useMemo(() => diffFlows(before, after), [before, after]);
  const names = new Map([...before.nodes, ...after.nodes].map((node) => [node.id, node]));
  const nameOf = (id: string) => {
    const node = names.get(id);
    return node === undefined ? id : titleOf(node, nodeTypes);
  };
  const nodeLine = (mark: 'added' | 'removed' | 'changed', node: FlowNode, more?: string) => (
    <List.Item key={`${mark} ${node.id}`}>
      <Line
        sign={<DiffSign mark={mark} />}
        text={titleOf(node, nodeTypes)}
        {...(more === undefined ? {} : { more })}
      />
    </List.Item>
  );
  return (
    <List size="sm" spacing={6} listStyleType="none" aria-label={t('editor.versions.changes')}>
      {difference.added.map((node) => nodeLine('added', node))}
      {difference.removed.map((node) => nodeLine('removed', node))}
      {difference.changed.map(({ node, what }) => nodeLine('changed', node, what.join(', ')))}
      {[
        ...difference.addedEdges.map((edge) => ({ edge, mark: 'added' as const })),
        ...difference.removedEdges.map((edge) => ({ edge, mark: 'removed' as const })),
      ].map(({ edge, mark }) => (
        <List.Item key={`${mark} ${edge.source} ${edge.sourceHandle ?? ''} ${edge.target}`}>
          <Line sign={<DiffSign mark={mark} />} text={`${nameOf(edge.source)} → ${nameOf(edge.target)}`} />
        </List.Item>
      ))}
      {difference.settings.map((name) => (
        <List.Item key={`setting ${name}`}>
          <Line sign={<DiffSign mark="changed" />} text={t('editor.versions.setting', { name })} />
        </List.Item>
      ))}
      {difference.moved > 0 && (
        <List.Item>
          <Text size="xs" c="dimmed">
            {t('editor.versions.moved', { count: difference.moved })}
          </Text>
        </List.Item>
      )}
    </List>
  );
}

function Line({
  sign,
  text,
  more,
}: {
  readonly sign: ReactNode;
  readonly text: string;
  readonly more?: string;
}) {
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      {sign}
      <Box miw={0}>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {text}
        </Text>
        {more !== undefined && (
          <Text size="xs" c="dimmed">
            {more}
          </Text>
        )}
      </Box>
    </Group>
  );
}
