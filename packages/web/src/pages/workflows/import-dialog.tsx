import { Alert, Box, Button, FileButton, Group, List, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { ResponseBody } from '@millrace/admin-api';
import { FlowThumbnail } from '@millrace/editor/canvas/flow-thumbnail.tsx';
import { type JsonObject, stringifyJson } from '@millrace/engine';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Code } from '@millrace/ui/components/code.tsx';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { type Said, translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { CircleCheck, FileUp, OctagonAlert, TriangleAlert } from 'lucide-react';
import { type DragEvent, type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCreateWorkflow } from './create-workflow.ts';
import classes from './import-dialog.module.css';
import { type ImportFault, type NewWorkflow, readImport, readText } from './read-import.ts';

/** Files this many times larger than the service's limit aren't even read: no indentation accounts for that. */
const MAX_WHITE_SPACE_RATIO = 4;
const TYPING_PAUSE_MS = 300;

type FileFault = 'tooLarge' | 'notText' | null;

/** Creates a workflow from a chosen, dropped or pasted export, after a preview. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const { t, i18n } = useTranslation();
  const [text, setText] = useState('');
  const [fileName, setFileName] = useState<string | null>(null);
  const [fileFault, setFileFault] = useState<FileFault>(null);
  const [typedName, setTypedName] = useState<string | null>(null);
  const create = useCreateWorkflow();
  const { data: limits } = useQuery(endpointQuery('GET /limits'));
  const limit = limits?.flow_body_bytes ?? Number.POSITIVE_INFINITY;
  const read = useMemo(() => (text.trim() === '' ? null : readImport(text)), [text]);
  const found = read !== null && 'workflow' in read ? read.workflow : null;
  const isTooLarge = useMemo(() => found !== null && sizeOf(found) > limit, [found, limit]);
  const workflow = isTooLarge ? null : found;
  const { check, error, refetch } = useCheck(workflow?.flow_data ?? null);
  const name =
    typedName ?? workflow?.name ?? fileName?.replace(/\.json$/i, '') ?? t('workflows.importedName');
  const isReady = workflow !== null && name.trim() !== '' && check?.structure_errors.length === 0;

  const limitText = formatSize(limit, i18n.language);

  const write = (next: string, from: string | null) => {
    setText(next);
    setFileName(from);
    setFileFault(null);
    setTypedName(null);
  };
  const take = async (file: File | null | undefined) => {
    if (file == null) return;
    if (file.size > limit * MAX_WHITE_SPACE_RATIO) return setFileFault('tooLarge');
    const content = readText(await file.arrayBuffer());
    if (content === null) return setFileFault('notText');
    write(content, file.name);
  };
  return (
    <FormDialog
      title={t('workflows.import')}
      action={t('workflows.importAction')}
      size="lg"
      isReady={isReady}
      isBusy={create.isPending}
      onSubmit={() => workflow !== null && create.mutate({ ...workflow, name })}
      onClose={onClose}
    >
      <DropZone onFile={(file) => void take(file)}>
        <Stack gap="sm">
          <Muted>{t('workflows.importHint')}</Muted>
          <Group gap="xs">
            <FileButton accept="application/json,.json" onChange={(file) => void take(file)}>
              {(props) => (
                <Button {...props} variant="default" leftSection={<FileUp size={14} />}>
                  {t('workflows.chooseFile')}
                </Button>
              )}
            </FileButton>
            <Muted truncate maw={320}>
              {fileName ?? t('workflows.dropFile')}
            </Muted>
          </Group>
          {fileFault !== null && (
            <FaultAlert>{t(`workflows.importFile.${fileFault}`, { limit: limitText })}</FaultAlert>
          )}
          <div>
            <Muted mb={4}>{t('workflows.pasteHere')}</Muted>
            <Code
              value={text}
              onChange={(next) => next !== text && write(next, null)}
              language="json"
              label={t('workflows.pasteHere')}
              maxHeight={240}
            />
          </div>
        </Stack>
      </DropZone>
      {read !== null && 'fault' in read && <ImportFaultAlert fault={read.fault} />}
      {isTooLarge && <FaultAlert>{t('workflows.importFile.tooLarge', { limit: limitText })}</FaultAlert>}
      {workflow !== null && (
        <>
          <TextInput
            label={t('workflows.name')}
            value={name}
            maxLength={255}
            required
            onChange={({ currentTarget }) => setTypedName(currentTarget.value)}
          />
          {error === null ? (
            <Preview flow={workflow.flow_data} check={check} />
          ) : (
            <ErrorState error={error} onRetry={refetch} />
          )}
        </>
      )}
    </FormDialog>
  );
}

/** Bytes of the create request, apart from the name. */
function sizeOf(workflow: NewWorkflow): number {
  return new Blob([stringifyJson(workflow)]).size;
}

/** Mebibytes, like the service's setting. */
function formatSize(bytes: number, language: string): string {
  return `${(bytes / 2 ** 20).toLocaleString(language, { maximumFractionDigits: 1 })} MiB`;
}

type Check = ResponseBody<'POST /orgs/:org/flow-checks'>;

interface Finding {
  /** Undefined while unknown. */
  readonly check: Check | undefined;
  /** Why the check failed: the flow is too large, or the service is unreachable. */
  readonly error: Error | null;
  readonly refetch: () => void;
}

/** The service's findings in the flow. */
function useCheck(flow: JsonObject | null): Finding {
  const org = useOrg();
  const [settled] = useDebouncedValue(flow, TYPING_PAUSE_MS);
  const {
    data,
    error,
    refetch: ask,
  } = useQuery({
    queryKey: ['POST /orgs/:org/flow-checks', { org }, settled],
    queryFn: ({ signal }) =>
      call('POST /orgs/:org/flow-checks', {
        params: { org },
        body: { flow_data: settled ?? {} },
        signal,
      }),
    enabled: settled !== null && settled === flow,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const refetch = () => void ask();
  if (flow === null || settled !== flow) return { check: undefined, error: null, refetch };
  return { check: error === null ? data : undefined, error, refetch };
}

function DropZone({ onFile, children }: { onFile: (file: File | undefined) => void; children: ReactNode }) {
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
        onFile(event.dataTransfer.files[0]);
      }}
    >
      {children}
    </div>
  );
}

function FaultAlert({ children }: { children: ReactNode }) {
  return (
    <Alert color="red" p="xs" role="alert" icon={<OctagonAlert size={16} />}>
      <Text size="sm">{children}</Text>
    </Alert>
  );
}

function ImportFaultAlert({ fault }: { fault: ImportFault }) {
  const { t } = useTranslation();
  if (fault.kind === 'no_json')
    return <FaultAlert>{t('workflows.importFault.no_json', { ...fault.at })}</FaultAlert>;
  if (fault.kind === 'foreign' && fault.product === 'n8n')
    return <FaultAlert>{t('workflows.importFault.n8n')}</FaultAlert>;
  if (fault.kind === 'foreign') return <FaultAlert>{t('workflows.importFault.foreign', fault)}</FaultAlert>;
  return (
    <FaultAlert>
      {t(fault.kind === 'several' ? 'workflows.importFault.several' : 'workflows.importFault.no_workflow')}
    </FaultAlert>
  );
}

const MAX_SHOWN = 6;

/** A preview, with problems that prevent the import or remain to be fixed afterwards. */
function Preview({ flow, check }: { flow: JsonObject; check: Check | undefined }) {
  const { t } = useTranslation();
  if (check === undefined) return <Skeleton h={120} />;
  const { structure_errors: errors, problems } = check;
  if (errors.length > 0) {
    return (
      <Alert color="red" p="xs" icon={<OctagonAlert size={16} />} title={t('workflows.importBroken')}>
        <Found items={errors} />
      </Alert>
    );
  }
  return (
    <>
      <Box h={120} className={classes.picture} aria-hidden>
        <FlowThumbnail flow={flow} />
      </Box>
      {problems.length === 0 ? (
        <Group gap={6} wrap="nowrap">
          <CircleCheck size={14} aria-hidden />
          <Text size="sm">{t('workflows.importFine')}</Text>
        </Group>
      ) : (
        <Alert
          color="yellow"
          p="xs"
          icon={<TriangleAlert size={16} />}
          title={t('workflows.importUnfinished')}
        >
          <Found items={problems} />
        </Alert>
      )}
    </>
  );
}

function Found({ items }: { items: readonly (Said & { pointer: string; code: string })[] }) {
  const { t } = useTranslation();
  return (
    <List size="sm" listStyleType="none" spacing={2}>
      {items.slice(0, MAX_SHOWN).map((item) => (
        <List.Item key={`${item.pointer} ${item.code} ${item.message}`}>
          {translateMessage(item)}{' '}
          <Text span size="xs" ff="monospace">
            {item.pointer}
          </Text>
        </List.Item>
      ))}
      {items.length > MAX_SHOWN && (
        <List.Item>{t('workflows.importMore', { count: items.length - MAX_SHOWN })}</List.Item>
      )}
    </List>
  );
}
