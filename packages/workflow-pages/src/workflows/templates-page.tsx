import '@millrace/ui/i18n/parts/gallery.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Button, Group, SimpleGrid } from '@mantine/core';
import { TEMPLATE_CATEGORIES, type Template } from '@millrace/admin-api';
import { useNodeTypes } from '@millrace/editor/canvas/flow-view.tsx';
import { wholeTypes } from '@millrace/editor/canvas/use-connectors.ts';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { type ApplyFilters, useFilters } from '@millrace/ui/api/search-params.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { needWholeTexts } from '@millrace/ui/i18n/service/index.ts';
import { useQuery } from '@tanstack/react-query';
import { LayoutTemplate, SearchX } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCreateWorkflow } from './create-workflow.ts';
import { type GallerySearch, readGallerySearch } from './gallery-search.ts';
import { SearchField } from './search-field.tsx';
import { TemplateCard } from './template-card.tsx';
import { onlyCredentials, openSteps } from './template-needs.ts';
import { searchTemplates } from './template-search.ts';
import { useTranslatedTemplate, useVariableName } from './template-text.ts';

const TemplateDialog = lazyPart(async () => (await import('./template-dialog.tsx')).TemplateDialog);

/** Workflow templates, each with a picture of its flow. */
export function TemplatesPage() {
  const { t } = useTranslation();
  const org = useOrg();
  const { can } = useRole();
  const inWords = useTranslatedTemplate();
  const nodeTypes = useNodeTypes();
  const [filters, apply] = useFilters(readGallerySearch);
  const isSearched = (filters.search ?? '') !== '';
  // Nodes are found by their synonyms, too.
  useEffect(() => {
    if (isSearched) void needWholeTexts();
  }, [isSearched]);
  useQuery({ ...wholeTypes, enabled: isSearched });
  const templates = useQuery(endpointQuery('GET /orgs/:org/templates', { params: { org } }));
  const credentials = useQuery({
    ...endpointQuery('GET /orgs/:org/credentials', { params: { org } }),
    enabled: can('editor'),
  });
  const owned = credentials.data?.items ?? [];
  const { use, busyId } = useOneClick();
  const [chosen, setChosen] = useState<Template | null>(null);
  const all = templates.data?.items.map(inWords) ?? [];
  const shown = searchTemplates(all, filters, nodeTypes);
  return (
    <Page title={t('workflows.templates')} description={t('gallery.templatesHint')}>
      <QueryState query={templates} />
      {templates.data?.items.length === 0 && (
        <EmptyState icon={LayoutTemplate} title={t('gallery.noTemplates')}>
          {t('gallery.noTemplatesHint')}
        </EmptyState>
      )}
      {all.length > 0 && <Filters filters={filters} apply={apply} />}
      {all.length > 0 && shown.length === 0 && (
        <EmptyState
          icon={SearchX}
          title={t('gallery.noTemplateFound')}
          action={
            <Button variant="default" onClick={() => apply({ search: undefined, category: undefined })}>
              {t('gallery.showAllTemplates')}
            </Button>
          }
        >
          {t('gallery.noTemplateFoundHint')}
        </EmptyState>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        {shown.map((template) => (
          <TemplateCard
            key={template.id}
            template={template}
            isBusy={busyId === template.id}
            onUse={() => use(template, onlyCredentials(template, owned))}
            onDetails={() => setChosen(template)}
          />
        ))}
      </SimpleGrid>
      {chosen !== null && (
        <TemplateDialog template={chosen} credentials={owned} onClose={() => setChosen(null)} />
      )}
    </Page>
  );
}

/** Makes a draft of a template and opens it; a message says what is left to fill in. */
function useOneClick() {
  const { t } = useTranslation();
  const nameOf = useVariableName();
  const left = useRef('');
  const [busyId, setBusyId] = useState<string | null>(null);
  const create = useCreateWorkflow(() => left.current);
  const use = (template: Template, vars: ReturnType<typeof onlyCredentials>) => {
    const given = Object.fromEntries(template.setup.map((step) => [step.var, step.value]));
    const unset = template.setup.filter(({ credential_types: types }) => types !== null);
    for (const { var: name } of unset) delete given[name];
    const names = openSteps(template.setup, { ...given, ...vars }).map((step) => nameOf(step.var));
    const list = names.join(t('common.listSeparator'));
    left.current = names.length === 0 ? '' : t('gallery.stillOpen', { names: list });
    setBusyId(template.id);
    create.mutate(
      { name: template.name, template: { id: template.id, vars } },
      { onSettled: () => setBusyId(null) },
    );
  };
  return { use, busyId };
}

function Filters({ filters, apply }: { filters: GallerySearch; apply: ApplyFilters<GallerySearch> }) {
  const { t } = useTranslation();
  return (
    <Group gap="xs" role="search">
      <SearchField
        label={t('gallery.searchTemplates')}
        hint={t('gallery.searchTemplatesHint')}
        value={filters.search}
        onApply={(search) => apply({ search })}
      />
      <Group gap={6} role="group" aria-label={t('gallery.category.label')}>
        {([undefined, ...TEMPLATE_CATEGORIES] as const).map((category) => {
          const isChosen = filters.category === category;
          return (
            <Button
              key={category ?? 'all'}
              size="compact-sm"
              variant={isChosen ? 'light' : 'default'}
              aria-pressed={isChosen}
              onClick={() => apply({ category })}
            >
              {t(`gallery.category.${category ?? 'all'}`)}
            </Button>
          );
        })}
      </Group>
    </Group>
  );
}
