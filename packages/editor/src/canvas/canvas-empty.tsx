import '@millrace/ui/i18n/parts/canvas.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { Anchor, Button, Group, SimpleGrid, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { kindClass } from '@millrace/editor-model/node-classes.ts';
import { useEditorState } from '@millrace/editor-model/store.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { NodeIcon } from './node-icon.tsx';

/** Ways a workflow starts. Several share a trigger, whose node is then named after the way. */
const STARTS = [
  { name: 'webhook', type: 'trigger.webhook', icon: 'webhook', isNamed: false },
  { name: 'schedule', type: 'trigger.schedule', icon: 'calendar-clock', isNamed: false },
  { name: 'manual', type: 'trigger.manual', icon: 'play', isNamed: false },
  { name: 'workflow', type: 'trigger.manual', icon: 'workflow', isNamed: true },
  { name: 'failure', type: 'trigger.manual', icon: 'octagon-x', isNamed: true },
  { name: 'form', type: 'trigger.form', icon: 'clipboard-list', isNamed: false },
  { name: 'chat', type: 'trigger.chat', icon: 'message-square', isNamed: false },
  { name: 'email', type: 'trigger.email', icon: 'mail', isNamed: false },
] as const;
const KNOWN: ReadonlySet<string> = new Set(STARTS.map(({ type }) => type));

/** The empty state of a flow: asks how it starts. */
export function CanvasEmpty({
  onChoose,
  onSearch,
}: {
  /** @param label the name of the new node, if it isn't that of its type */
  onChoose: (type: string, label?: string) => void;
  onSearch: () => void;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const { nodeTypes, isReadOnly } = useEditorState('nodeTypes', 'isReadOnly');
  if (isReadOnly) {
    return <Muted p="md">{t('canvas.empty.readOnly')}</Muted>;
  }
  const starts = STARTS.filter(({ type }) => nodeTypes.has(type)).map(({ name, type, icon, isNamed }) => ({
    key: name,
    type,
    icon,
    title: t(`canvas.start.${name}.title`),
    hint: t(`canvas.start.${name}.hint`),
    label: isNamed ? t(`canvas.start.${name}.title`) : undefined,
  }));
  // Those of services are found by searching.
  const others = [...nodeTypes.values()].filter(({ group, type }) => group === 'trigger' && !KNOWN.has(type));
  return (
    <Stack gap="md" className="flow-empty" align="stretch">
      <Title order={2} ta="center">
        {t('editor.emptyTitle')}
      </Title>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={8} verticalSpacing={8}>
        {starts.map(({ key, type, icon, title, hint, label }) => (
          <UnstyledButton key={key} className="flow-empty-choice" onClick={() => onChoose(type, label)}>
            <span className={`flow-node-icon ${kindClass(nodeTypes.get(type))}`}>
              <NodeIcon name={icon} />
            </span>
            <span>
              <Text span size="sm" fw={500} display="block">
                {title}
              </Text>
              <Hint span display="block">
                {hint}
              </Hint>
            </span>
          </UnstyledButton>
        ))}
      </SimpleGrid>
      {others.length > 0 && (
        <Group justify="center" gap={6}>
          <Hint span>{t('canvas.empty.others')}</Hint>
          {others.map(({ type, icon, title, description }) => (
            <Button
              key={type}
              variant="default"
              size="compact-xs"
              leftSection={<NodeIcon name={icon} size={13} />}
              title={description}
              onClick={() => onChoose(type)}
            >
              {title}
            </Button>
          ))}
        </Group>
      )}
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
