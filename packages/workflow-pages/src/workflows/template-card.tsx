import '@millrace/ui/i18n/parts/gallery.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Badge, Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import type { Template } from '@millrace/admin-api';
import { FlowThumbnail } from '@millrace/editor/canvas/flow-thumbnail.tsx';
import { useNodeTypes } from '@millrace/editor/canvas/flow-view.tsx';
import { useRole } from '@millrace/ui/api/me.ts';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { KeyRound } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useCredentialTypeName } from './template-text.ts';
import { TriggerName } from './trigger-name.tsx';

const PICTURE_HEIGHT = 150;

/** A template in the gallery: what it does and what it needs. One click makes a draft of it. */
export function TemplateCard({
  template,
  isBusy,
  onUse,
  onDetails,
}: {
  template: Template;
  isBusy: boolean;
  onUse: () => void;
  onDetails: () => void;
}) {
  const { t } = useTranslation();
  const { can } = useRole();
  const { name, summary, categories } = template;
  return (
    <Card withBorder padding="sm" component="article" aria-label={name}>
      <Card.Section
        h={PICTURE_HEIGHT}
        aria-hidden
        inert
        style={{ borderBottom: '1px solid var(--mantine-color-default-border)', flexShrink: 0 }}
      >
        <FlowThumbnail flow={template.flow_data} />
      </Card.Section>
      <Stack gap={6} pt="sm" h="100%">
        <Title order={2} fz="sm">
          {name}
        </Title>
        <Muted flex={1}>{summary}</Muted>
        <Needs template={template} />
        <Group gap={4}>
          {categories.map((category) => (
            <Badge key={category} color="gray" size="xs" tt="none">
              {t(`gallery.category.${category}`)}
            </Badge>
          ))}
        </Group>
        {can('editor') && (
          <Group gap="xs">
            <Button loading={isBusy} onClick={onUse} aria-label={t('gallery.useNamed', { name })}>
              {t('gallery.use')}
            </Button>
            <Button
              variant="default"
              onClick={onDetails}
              aria-label={t('gallery.templateDetailsNamed', { name })}
            >
              {t('gallery.templateDetails')}
            </Button>
          </Group>
        )}
      </Stack>
    </Card>
  );
}

/** What starts the workflow, and what it requires. */
function Needs({ template: { trigger_type: trigger, setup, node_types: types } }: { template: Template }) {
  const { t } = useTranslation();
  const nodeTypes = useNodeTypes();
  const nodes = types
    .flatMap((name) => nodeTypes.get(name) ?? [])
    .filter(({ kind }) => kind !== 'trigger')
    .map(({ title }) => title)
    .join(t('common.listSeparator'));
  const typeName = useCredentialTypeName();
  const credentials = setup.flatMap(({ credential_types: types }) =>
    types === null ? [] : [typeName(types)],
  );
  const needs = [...new Set(credentials)].join(t('common.listSeparator'));
  return (
    <Stack gap={2}>
      <TriggerName type={trigger} />
      <Group gap={6} wrap="nowrap" align="flex-start">
        <KeyRound size={14} aria-hidden style={{ flexShrink: 0, marginTop: 3 }} />
        <Text size="sm">
          {needs === '' ? t('gallery.needsNoCredential') : t('gallery.needs', { credentials: needs })}
        </Text>
      </Group>
      <Hint lineClamp={2}>{t('gallery.uses', { nodes })}</Hint>
    </Stack>
  );
}
