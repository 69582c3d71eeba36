import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Badge, Button, FileButton, Group, Paper, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Code } from '@millrace/ui/components/code.tsx';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck, FileUp } from 'lucide-react';
import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCreateImported } from './create-imported.ts';
import classes from './import-dialog.module.css';
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
  const [first, ...others] = given.texts;
  const text = first !== undefined && others.length === 0 && typeof first.text === 'string' ? first.text : '';

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
      <DropZone onFiles={(files) => void take(files)}>
        <Stack gap="sm">
          <Muted>{t('workflows.importHint')}</Muted>
          <Group gap="xs">
            <FileButton
              multiple
              accept="application/json,.json,.yml,.yaml"
              onChange={(files) => void take(files)}
            >
              {(props) => (
                <Button {...props} variant="default" leftSection={<FileUp size={14} />}>
                  {t('workflows.chooseFiles')}
                </Button>
              )}
            </FileButton>
            <Muted truncate maw={320}>
              {others.length > 0
                ? t('workflows.chosenFiles', { count: given.texts.length })
                : first?.fileName || t('workflows.dropFiles')}
            </Muted>
          </Group>
          <div>
            <Muted mb={4}>{t('workflows.pasteHere')}</Muted>
            <Code
              value={text}
              onChange={(next) => next !== text && give([{ fileName: '', text: next }])}
              language="json"
              label={t('workflows.pasteHere')}
              maxHeight={240}
            />
          </div>
        </Stack>
      </DropZone>
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
              <Stack key={workflow.key} gap="xs" component="section" aria-label={nameOf(workflow)}>
                {only === null && (
                  <Group gap="xs">
                    <Text size="sm" fw={600}>
                      {nameOf(workflow)}
                    </Text>
                    {created.has(workflow.key) && (
                      <Badge color="green" leftSection={<CircleCheck size={12} aria-hidden />}>
                        {t('workflows.importCreated')}
                      </Badge>
                    )}
                  </Group>
                )}
                {refused.has(workflow.key) && !created.has(workflow.key) && (
                  <FaultAlert>{refused.get(workflow.key)}</FaultAlert>
                )}
                <Preview workflow={workflow} />
              </Stack>
            )}
          </FoundIn>
        </Framed>
      ))}
    </FormDialog>
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

function DropZone({ onFiles, children }: { onFiles: (files: readonly File[]) => void; children: ReactNode }) {
  const [isOver, setIsOver] = useState(false);
  const hasFile = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a mouse shortcut for the button inside
    <div
      className={classes.zone}
      data-over={isOver || undefined}
      onDragOverCapture={(event) => {
        if (!hasFile(event)) return;
        event.preventDefault();
        event.stopPropagation();
        setIsOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setIsOver(false);
      }}
      onDropCapture={(event) => {
        if (!hasFile(event)) return;
        event.preventDefault();
        event.stopPropagation();
        setIsOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
    </div>
  );
}
