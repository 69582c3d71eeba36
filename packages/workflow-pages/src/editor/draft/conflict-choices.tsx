import { Box, Group, List, SegmentedControl, Text } from '@mantine/core';
import { useNodeTypes } from '@millrace/editor/canvas/flow-view.tsx';
import { titleOf } from '@millrace/editor-model/flow-value.ts';
import { TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useValueName, ValueChanges } from '../versions/change-list.tsx';
import type { Choice, Decisions, Side } from '../versions/merge-flows.ts';

/** For each differing node and setting: whose change it is, and whose to keep. */
export function ConflictChoices({
  choices,
  decisions,
  onDecide,
  author,
  sides,
}: {
  choices: readonly Choice[];
  decisions: Decisions;
  onDecide: (decisions: Decisions) => void;
  /** The author of the other flow. */
  author: string;
  /** Short labels of both sides. */
  sides: { readonly [side in Side]: string };
}) {
  const { t } = useTranslation();
  const nodeTypes = useNodeTypes();
  const valueName = useValueName();
  const titleFor = ({ node, setting }: Choice) =>
    node === null ? valueName(setting ?? '') : titleOf(node, nodeTypes);
  const describe = ({ mine, theirs }: Choice) =>
    [
      theirs === null ? null : t(`conflict.did.${theirs}`, { who: author }),
      mine === null ? null : t(`conflict.did.${mine}`, { who: t('conflict.you') }),
    ]
      .filter((text) => text !== null)
      .join(' · ');
  return (
    <List
      size="sm"
      spacing="sm"
      listStyleType="none"
      aria-label={t('versions.changes')}
      styles={{ itemWrapper: { display: 'block' }, itemLabel: { width: '100%' } }}
    >
      {choices.map((choice) => {
        const title = titleFor(choice);
        const isBoth = choice.mine !== null && choice.theirs !== null;
        return (
          <List.Item key={choice.key}>
            <Group gap="xs" wrap="nowrap" justify="space-between" align="flex-start">
              <Box miw={0}>
                <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
                  {title}
                </Text>
                <Text size="xs" c={isBoth ? 'var(--flow-problem)' : 'dimmed'}>
                  {isBoth && <TriangleAlert size={12} aria-hidden style={{ verticalAlign: '-2px' }} />}{' '}
                  {describe(choice)}
                </Text>
                <ValueChanges changes={choice.changes} />
              </Box>
              <SegmentedControl
                size="xs"
                style={{ flexShrink: 0 }}
                aria-label={t('conflict.whose', { title })}
                value={decisions[choice.key] ?? choice.suggested}
                onChange={(side) => onDecide({ ...decisions, [choice.key]: side as Side })}
                data={[
                  { value: 'theirs', label: sides.theirs },
                  { value: 'mine', label: sides.mine },
                ]}
              />
            </Group>
          </List.Item>
        );
      })}
    </List>
  );
}
