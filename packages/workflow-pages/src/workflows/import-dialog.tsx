import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Badge, Group, Paper, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCreateImported } from './create-imported.ts';
import { FaultAlert, ImportReport, Preview } from './import-report.tsx';
import {
  type CheckedSource,
  type CheckedWorkflow,
  type Given,
  MAX_WORKFLOWS,
  NOTHING_GIVEN,
  readFiles,
  type Source,
  useSources,
} from './import-sources.ts';
import { SourceInput } from './source-input.tsx';

/** Creates workflows from chosen, dropped or pasted exports, of other products too, after a look at what they would become. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [given, setGiven] = useState<Given>(NOTHING_GIVEN);
  const lastId = useRef(0);
  const [typedName, setTypedName] = useState<string | null>(null);
  const { data: limits } = useQuery(endpointQuery('GET /limits'));
  const limit = limits?.flow_body_bytes ?? Number.POSITIVE_INFINITY;
  const { sources, leftOut } = useSources(given, limit);
  const { create, isBusy, created, refused } = useCreateImported(onClose);

  const give = (texts: Given['texts']) => {
    lastId.current += 1;
    setGiven({ id: lastId.current, texts });
    setTypedName(null);
  };
  const take = async (files: readonly File[]) => {
    if (files.length > 0) give(await readFiles(files, limit));
  };

  const checked = sources.flatMap((source) => source.checked?.workflows ?? []);
  const [onlyOne = null, ...more] = checked;
  const only = more.length === 0 && sources.length === 1 ? onlyOne : null;
  const suggestedNameOf = (workflow: CheckedWorkflow) =>
    sources.find((source) => source.checked?.workflows.includes(workflow) === true)?.name ?? '';
  const nameOf = (workflow: CheckedWorkflow) =>
    workflow.name ?? (suggestedNameOf(workflow) || t('workflows.importedName'));
  const name = only === null ? '' : (typedName ?? nameOf(only));
  const ready = checked.filter(
    (workflow) => workflow.check.structure_errors.length === 0 && !created.has(workflow.key),
  );
  const isKnown = sources.every(
    ({ read, checked: found, error }) => 'fault' in read || found !== undefined || error !== null,
  );
  return (
    <FormDialog
      title={t('workflows.import')}
      action={
        only !== null || ready.length === 0
          ? t('workflows.importAction')
          : t('workflows.importCount', { count: ready.length })
      }
      size="lg"
      isReady={isKnown && ready.length > 0 && (only === null || name.trim() !== '')}
      isBusy={isBusy}
      onSubmit={() =>
        create(
          ready.map((workflow) => ({
            key: workflow.key,
            body: { ...workflow.body, name: workflow === only ? name : nameOf(workflow) },
          })),
        )
      }
      // What is being made would go on unseen.
      onClose={() => !isBusy && onClose()}
    >
      <SourceInput
        texts={given.texts}
        onFiles={(files) => void take(files)}
        onPaste={(text) => give([{ fileName: '', text }])}
      />
      {leftOut > 0 && (
        <FaultAlert>{t('workflows.importTooMany', { max: MAX_WORKFLOWS, count: leftOut })}</FaultAlert>
      )}
      {only !== null && (
        <TextInput
          label={t('workflows.name')}
          value={name}
          maxLength={255}
          required
          onChange={({ currentTarget }) => setTypedName(currentTarget.value)}
        />
      )}
      {sources.map((source) => (
        <Framed key={source.key} source={source} isAlone={sources.length === 1}>
          <FoundIn source={source} limit={limit}>
            {(workflow) => (
              <FoundWorkflow
                key={workflow.key}
                workflow={workflow}
                name={nameOf(workflow)}
                isAlone={only !== null}
                isCreated={created.has(workflow.key)}
                refusal={refused.get(workflow.key)}
              />
            )}
          </FoundIn>
        </Framed>
      ))}
    </FormDialog>
  );
}

/** What is to be created: its name if the dialog doesn't ask for it, and what became of it. */
function FoundWorkflow({
  workflow,
  name,
  isAlone,
  isCreated,
  refusal,
}: {
  workflow: CheckedWorkflow;
  name: string;
  isAlone: boolean;
  isCreated: boolean;
  refusal: string | undefined;
}) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs" component="section" aria-label={name}>
      {!isAlone && (
        <Group gap="xs">
          <Text size="sm" fw={600}>
            {name}
          </Text>
          {isCreated && (
            <Badge color="green" leftSection={<CircleCheck size={12} aria-hidden />}>
              {t('workflows.importCreated')}
            </Badge>
          )}
        </Group>
      )}
      {refusal !== undefined && !isCreated && <FaultAlert>{refusal}</FaultAlert>}
      <Preview workflow={workflow} />
    </Stack>
  );
}

/** Keeps several apart, each below the name of its file. */
function Framed({ source, isAlone, children }: { source: Source; isAlone: boolean; children: ReactNode }) {
  if (isAlone) return children;
  return (
    <Paper withBorder p="sm">
      <Stack gap="sm">
        {source.fileName !== '' && <Muted truncate>{source.fileName}</Muted>}
        {children}
      </Stack>
    </Paper>
  );
}

/** What a source would become, or why it can't be said. */
function FoundIn({
  source: { read, checked, error, refetch },
  limit,
  children,
}: {
  source: CheckedSource;
  limit: number;
  children: (workflow: CheckedWorkflow) => ReactNode;
}) {
  const { t } = useTranslation();
  if ('fault' in read) return <Fault fault={read.fault} limit={limit} />;
  if (error !== null) return <ErrorState error={error} onRetry={refetch} />;
  if (checked === undefined) return <Skeleton h={120} />;
  const { report, workflows } = checked;
  return (
    <>
      {report !== null && <ImportReport report={report} />}
      {workflows.length === 0 && <FaultAlert>{t('workflows.importNothing')}</FaultAlert>}
      {workflows.length > 1 && (
        <Text size="sm">{t('workflows.importParts', { count: workflows.length })}</Text>
      )}
      {workflows.map(children)}
    </>
  );
}

function Fault({
  fault,
  limit,
}: {
  fault: Extract<Source['read'], { readonly fault: unknown }>['fault'];
  limit: number;
}) {
  const { t, i18n } = useTranslation();
  switch (fault.kind) {
    case 'no_json':
      return <FaultAlert>{t('workflows.importFault.no_json', { ...fault.at })}</FaultAlert>;
    case 'foreign':
      return <FaultAlert>{t('workflows.importFault.foreign', { product: fault.product })}</FaultAlert>;
    case 'no_workflow':
      return <FaultAlert>{t('workflows.importFault.no_workflow')}</FaultAlert>;
    default:
      return (
        <FaultAlert>
          {t(`workflows.importFile.${fault.kind}`, { limit: formatSize(limit, i18n.language) })}
        </FaultAlert>
      );
  }
}

/** Mebibytes, like the service's setting. */
function formatSize(bytes: number, language: string): string {
  return `${(bytes / 2 ** 20).toLocaleString(language, { maximumFractionDigits: 1 })} MiB`;
}
