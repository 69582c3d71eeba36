import { Anchor, Button, Group, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { useOrg } from '@millrace/ui/api/me.ts';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useEditorState } from '../model/store.ts';
import { kindClass, NodeIcon } from './node-icon.tsx';

/** The empty state of a flow: adds a trigger with one click. */
export function CanvasEmpty({
  onChoose,
  onSearch,
}: {
  onChoose: (type: string) => void;
  onSearch: () => void;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const { nodeTypes, isReadOnly } = useEditorState('nodeTypes', 'isReadOnly');
  if (isReadOnly) {
    return <Muted p="md">{t('canvas.empty.readOnly')}</Muted>;
  }
  const triggers = [...nodeTypes.values()].filter(({ kind }) => kind === 'trigger');
  return (
    <Stack gap="sm" className="flow-empty" align="stretch">
      <Title order={2} ta="center">
        {t('editor.emptyTitle')}
      </Title>
      <Stack gap={6}>
        {triggers.map((type) => (
          <UnstyledButton key={type.type} className="flow-empty-choice" onClick={() => onChoose(type.type)}>
            <span className={`flow-node-icon ${kindClass(type)}`}>
              <NodeIcon name={type.icon} />
            </span>
            <span>
              <Text span size="sm" fw={500} display="block">
                {type.title}
              </Text>
              <Hint span display="block">
                {t(`canvas.empty.${hintOf(type.type)}`)}
              </Hint>
            </span>
          </UnstyledButton>
        ))}
      </Stack>
      <Group justify="center" gap="md">
        <Button variant="default" leftSection={<Plus size={14} />} onClick={onSearch}>
          {t('editor.emptyAction')}
        </Button>
        <Anchor
          size="sm"
          renderRoot={(props) => <Link {...props} to="/o/$org/templates" params={{ org: String(org) }} />}
        >
          {t('canvas.empty.templates')}
        </Anchor>
      </Group>
      <Hint ta="center">{t('canvas.empty.hint')}</Hint>
    </Stack>
  );
}

const HINTS = {
  'trigger.webhook': 'webhook',
  'trigger.schedule': 'schedule',
  'trigger.manual': 'manual',
} as const;

function hintOf(type: string): (typeof HINTS)[keyof typeof HINTS] | 'trigger' {
  return Object.hasOwn(HINTS, type) ? HINTS[type as keyof typeof HINTS] : 'trigger';
}
