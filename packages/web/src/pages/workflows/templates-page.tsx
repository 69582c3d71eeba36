import '@millrace/ui/i18n/parts/credentials.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Badge, Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { Template } from '@millrace/admin-api';
import { FlowThumbnail } from '@millrace/editor/canvas/flow-thumbnail.tsx';
import { Field } from '@millrace/editor/fields/field.tsx';
import { withMember } from '@millrace/editor/form/field-props.ts';
import type { Schema } from '@millrace/editor/form/field-shape.ts';
import { isJsonArray, isRawNumber, type JsonObject, type JsonValue } from '@millrace/engine';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { useGalleryText } from '@millrace/ui/i18n/service/index.ts';
import { useQuery } from '@tanstack/react-query';
import { KeyRound, LayoutTemplate } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isKnownType } from '../credentials/credential-text.ts';
import { useCreateWorkflow } from './create-workflow.ts';
import { NameField } from './name-field.tsx';
import { TriggerName } from './trigger-name.tsx';

const PICTURE_HEIGHT = 150;

/** Workflow templates, each with a thumbnail. */
export function TemplatesPage() {
  const { t } = useTranslation();
  const org = useOrg();
  const inWords = useTranslatedTemplate();
  const templates = useQuery(endpointQuery('GET /orgs/:org/templates', { params: { org } }));
  const { data } = templates;
  const [chosen, setChosen] = useState<Template | null>(null);
  return (
    <Page title={t('workflows.templates')} description={t('workflows.templatesHint')}>
      <QueryState query={templates} />
      {data?.items.length === 0 && (
        <EmptyState icon={LayoutTemplate} title={t('workflows.noTemplates')}>
          {t('workflows.noTemplatesHint')}
        </EmptyState>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        {data?.items.map(inWords).map((template) => (
          <TemplateCard key={template.id} template={template} onUse={() => setChosen(template)} />
        ))}
      </SimpleGrid>
      {chosen !== null && <UseDialog template={chosen} onClose={() => setChosen(null)} />}
    </Page>
  );
}

function TemplateCard({ template, onUse }: { template: Template; onUse: () => void }) {
  const { t } = useTranslation();
  const { can } = useRole();
  return (
    <Card withBorder padding="sm" component="article" aria-label={template.name}>
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
          {template.name}
        </Title>
        <Muted flex={1}>{template.summary}</Muted>
        <Needs template={template} />
        <Group gap={4}>
          {template.tags
            .filter((tag) => tag !== 'example')
            .map((tag) => (
              <Badge key={tag} color="gray" size="xs">
                {tag}
              </Badge>
            ))}
        </Group>
        {can('editor') && (
          <Button
            variant="default"
            w="fit-content"
            onClick={onUse}
            aria-label={t('workflows.useNamed', { name: template.name })}
          >
            {t('workflows.use')}
          </Button>
        )}
      </Stack>
    </Card>
  );
}

/** What starts the workflow, and what it requires. */
function Needs({ template: { trigger_type: trigger, setup } }: { template: Template }) {
  const { t } = useTranslation();
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
          {needs === '' ? t('workflows.needsNoCredential') : t('workflows.needs', { credentials: needs })}
        </Text>
      </Group>
    </Stack>
  );
}

/** Names the credential types that a step accepts. */
function useCredentialTypeName(): (types: readonly string[]) => string {
  const { t } = useTranslation();
  return (types) => {
    // Any type for an HTTP API.
    if (types.length > 1) return t('workflows.apiCredential');
    const [type = ''] = types;
    return isKnownType(type) ? t(`credentials.types.${type}.title`) : type;
  };
}

/** The template's variables; all can be filled in later. */
function UseDialog({ template, onClose }: { template: Template; onClose: () => void }) {
  const { t } = useTranslation();
  const say = useGalleryText();
  const [name, setName] = useState(template.name);
  const [vars, setVars] = useState<{ readonly [name: string]: JsonValue }>(() =>
    Object.fromEntries(
      template.setup.filter((step) => step.credential_types === null).map((step) => [step.var, step.value]),
    ),
  );
  const create = useCreateWorkflow();
  return (
    <FormDialog
      title={template.name}
      action={t('workflows.create')}
      size="lg"
      isReady={name.trim() !== ''}
      isBusy={create.isPending}
      onSubmit={() => create.mutate({ name, template: { id: template.id, vars: vars as JsonObject } })}
      onClose={onClose}
    >
      <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
        {template.description}
      </Text>
      <NameField value={name} onChange={setName} />
      {template.setup.map((step) => (
        <Field
          key={step.var}
          name={step.var}
          schema={schemaOf(step, say(step.var) ?? titleOf(step.var))}
          value={vars[step.var]}
          pointer={`/${step.var}`}
          onChange={(value) => setVars((old) => withMember(old, step.var, value))}
        />
      ))}
      <MissingVariables steps={template.setup} vars={vars} />
      {template.companions.length > 0 && (
        <Hint>
          {t('workflows.withCompanions', {
            names: template.companions.map((each) => each.name).join(t('common.listSeparator')),
          })}
        </Hint>
      )}
    </FormDialog>
  );
}

/** Variables not filled in yet, and where to do so later. */
function MissingVariables({
  steps,
  vars,
}: {
  steps: Template['setup'];
  vars: { readonly [name: string]: JsonValue };
}) {
  const { t } = useTranslation();
  const say = useGalleryText();
  const open = steps.filter(
    (step) =>
      vars[step.var] === undefined ||
      (step.value !== '' && step.credential_types === null && vars[step.var] === ''),
  );
  if (open.length === 0) return null;
  const names = open.map((step) => say(step.var) ?? titleOf(step.var)).join(t('common.listSeparator'));
  return <Hint role="status">{t('workflows.leftOpen', { names })}</Hint>;
}

/** A template with name, description and variables in the reader's language. */
function useTranslatedTemplate(): (template: Template) => Template {
  const say = useGalleryText();
  const inWords = (text: string): string => say(text) ?? text;
  return (template) => ({
    ...template,
    name: inWords(template.name),
    summary: inWords(template.summary),
    description: inWords(template.description),
    setup: template.setup.map((step) => ({ ...step, description: inWords(step.description) })),
    companions: template.companions.map(({ name }) => ({ name: inWords(name) })),
  });
}

function schemaOf(step: Template['setup'][number], title: string): Schema {
  const about = { title, description: step.description };
  if (step.credential_types !== null)
    return { ...about, type: 'integer', 'x-credential': step.credential_types };
  if (isJsonArray(step.value)) return { ...about, type: 'array', items: { type: 'string' } };
  return { ...about, type: typeof step.value === 'number' || isRawNumber(step.value) ? 'number' : 'string' };
}

/** Words of variables that are written differently in a title. */
const WORDS = new Map([
  ['ai', 'AI'],
  ['crm', 'CRM'],
  ['email', 'e-mail'],
  ['github', 'GitHub'],
  ['stripe', 'Stripe'],
  ['timezone', 'time zone'],
  ['url', 'URL'],
]);

/** Turns `mail_from` into `Mail from`. */
function titleOf(name: string): string {
  const title = name
    .split('_')
    .map((word) => WORDS.get(word) ?? word)
    .join(' ');
  return title.charAt(0).toUpperCase() + title.slice(1);
}
