import { Box, Group, List, Text } from '@mantine/core';
import { DiffSign } from '@millrace/editor/canvas/diff-sign.tsx';
import { useNodeTypes } from '@millrace/editor/canvas/flow-view.tsx';
import { SETTING_NAMES } from '@millrace/editor/node-panel/setting-names.ts';
import { titleOf } from '@millrace/editor-model/flow-value.ts';
import { type Flow, type FlowNode, type JsonValue, textOrJson } from '@millrace/engine';
import { Hint } from '@millrace/ui/components/text.tsx';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { FlowDifference, ValueChange } from './flow-diff.ts';

/** A difference as a list, using the user's names for nodes. */
export function ChangeList({ difference }: { difference: FlowDifference }) {
  const { t } = useTranslation();
  const nodeTypes = useNodeTypes();
  const nameOf = useNodeName(difference.union);
  const { added, removed, changed, addedEdges, removedEdges, settings, moved } = difference;
  const nodeLine = (
    mark: 'added' | 'removed' | 'changed',
    node: FlowNode,
    changes: readonly ValueChange[],
  ) => (
    <List.Item key={`${mark} ${node.id}`}>
      <Line sign={<DiffSign mark={mark} />} text={titleOf(node, nodeTypes)}>
        <ValueChanges changes={changes} />
      </Line>
    </List.Item>
  );
  return (
    <List size="sm" spacing={6} listStyleType="none" aria-label={t('versions.changes')}>
      {added.map((node) => nodeLine('added', node, []))}
      {removed.map((node) => nodeLine('removed', node, []))}
      {changed.map(({ node, changes }) => nodeLine('changed', node, changes))}
      {[
        ...addedEdges.map((edge) => ({ edge, mark: 'added' as const })),
        ...removedEdges.map((edge) => ({ edge, mark: 'removed' as const })),
      ].map(({ edge, mark }) => (
        <List.Item key={`${mark} ${edge.source} ${edge.sourceHandle ?? ''} ${edge.target}`}>
          <Line sign={<DiffSign mark={mark} />} text={`${nameOf(edge.source)} → ${nameOf(edge.target)}`} />
        </List.Item>
      ))}
      {settings.length > 0 && (
        <List.Item>
          <Line sign={<DiffSign mark="changed" />} text={t('workplace.settings')}>
            <ValueChanges changes={settings} />
          </Line>
        </List.Item>
      )}
      {moved > 0 && (
        <List.Item>
          <Hint>{t('versions.moved', { count: moved })}</Hint>
        </List.Item>
      )}
    </List>
  );
}

function useNodeName(flow: Flow): (id: string) => string {
  const nodeTypes = useNodeTypes();
  const names = new Map(flow.nodes.map((node) => [node.id, titleOf(node, nodeTypes)]));
  return (id) => names.get(id) ?? id;
}

function Line({ sign, text, children }: { sign: ReactNode; text: string; children?: ReactNode }) {
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      {sign}
      <Box miw={0}>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {text}
        </Text>
        {children}
      </Box>
    </Group>
  );
}

/** With more changes, a node is easier to compare line by line. */
const MAX_SHOWN = 6;

/** Changed values, before and after. */
export function ValueChanges({ changes }: { changes: readonly ValueChange[] }) {
  const { t } = useTranslation();
  const settingName = useValueName();
  return (
    <>
      {changes.slice(0, MAX_SHOWN).map(({ path, before, after }) => (
        <Hint key={path} style={{ overflowWrap: 'anywhere' }}>
          {settingName(path)}: {before !== undefined && <del>{shortText(before)}</del>}
          {before !== undefined && after !== undefined && ' → '}
          {after !== undefined && (
            <Text span inherit c="var(--mantine-color-text)">
              {shortText(after)}
            </Text>
          )}
        </Hint>
      ))}
      {changes.length > MAX_SHOWN && (
        <Hint>{t('versions.moreChanges', { count: changes.length - MAX_SHOWN })}</Hint>
      )}
    </>
  );
}

/** Values without a label in the forms. */
const OWN = ['type', 'parentId', 'notes'] as const;

/** A value's name, as labelled in the forms where it has a label. */
export function useValueName(): (path: string) => string {
  const { t } = useTranslation();
  const wordFor = (name: string): string => {
    const behaviour = {
      config: '',
      label: t('setting.ofNode.label'),
      on_error: t('setting.ofNode.onError'),
      retry: t('setting.ofNode.retry'),
      timeout_ms: t('setting.ofNode.timeout'),
    };
    if (Object.hasOwn(behaviour, name)) return behaviour[name as keyof typeof behaviour];
    const own = OWN.find((each) => each === name);
    if (own !== undefined) return t(`versions.value.${own}`);
    const setting = SETTING_NAMES.find((each) => each === name);
    return setting === undefined ? name : t(`setting.${setting}`);
  };
  return (path) => {
    const [first = '', ...rest] = path.split('.');
    return [wordFor(first), rest.join('.')].filter((part) => part !== '').join(' › ');
  };
}

const MAX_TEXT = 120;

function shortText(value: JsonValue): string {
  const text = textOrJson(value);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
