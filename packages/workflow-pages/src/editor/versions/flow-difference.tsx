import { Box, Group, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import { FlowView } from '@millrace/editor/canvas/flow-view.tsx';
import type { Flow } from '@millrace/engine';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ChangeList } from './change-list.tsx';
import { diffFlows, flowText } from './flow-diff.ts';

const TextDiff = lazyPart(
  async () => (await import('@millrace/ui/components/text-diff.tsx')).default,
  () => <Skeleton h={200} />,
);

/** Nothing in them takes the focus, so they take it themselves, to be scrolled with keys. */
const SCROLLED = { tabIndex: 0, style: { overflow: 'auto', scrollbarWidth: 'thin' } } as const;

/** The difference between two flows: a marked canvas with a list, or a line diff. */
export function FlowDifferenceView({
  before,
  after,
  labels,
  height = '52vh',
  children,
}: {
  before: Flow;
  after: Flow;
  /** Labels of the two flows: `Version 3`, `Your changes`. */
  labels: readonly [before: string, after: string];
  height?: string;
  /** Replaces the list of changes beside the canvas. */
  children?: ReactNode;
}) {
  const { t } = useTranslation();
  const [view, setView] = useState<'picture' | 'json'>('picture');
  const difference = useMemo(() => diffFlows(before, after), [before, after]);
  const texts = useMemo(() => ({ before: flowText(before), after: flowText(after) }), [before, after]);
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Muted>
          {labels[0]} → {labels[1]}
        </Muted>
        <SegmentedControl
          size="xs"
          value={view}
          onChange={(next) => setView(next as 'picture' | 'json')}
          data={[
            { value: 'picture', label: t('versions.picture') },
            { value: 'json', label: 'JSON' },
          ]}
        />
      </Group>
      {difference.isSame && <Text size="sm">{t('versions.same')}</Text>}
      {view === 'picture' ? (
        <Group align="stretch" gap="sm" wrap="wrap">
          <Box flex="5 1 320px" h={height} className="editor-frame-box">
            <FlowView flow={difference.union} marks={difference.marks} />
          </Box>
          <Box flex="1 1 200px" mah={height} {...SCROLLED}>
            {children ?? <ChangeList difference={difference} />}
          </Box>
        </Group>
      ) : (
        <Box h={height} {...SCROLLED}>
          <TextDiff {...texts} labels={labels} />
        </Box>
      )}
    </Stack>
  );
}
