import '@millrace/ui/i18n/parts/workflows.ts';
import {
  Alert,
  Anchor,
  Button,
  FileButton,
  Group,
  Modal,
  Progress,
  Select,
  Stack,
  Table,
  Text,
} from '@mantine/core';
import type { WorkflowItem } from '@millrace/admin-api';
import {
  type InputProperty,
  inputOfRow,
  inputPropertiesOf,
  isJsonObject,
  stringifyJson,
  undeclaredProperty,
} from '@millrace/engine';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Download, FileUp } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type CsvSource, type ImportRun, MAX_SHOWN, refusedRowsFile, useCsvImport } from './csv-import.ts';
import { CSV_ENCODINGS, type CsvEncoding, guessEncoding, readCsvRows } from './csv-rows.ts';

/** Rows shown before anything is started. */
const PREVIEW_ROWS = 5;
/** The choice that ignores a column; no header is empty. */
const IGNORED = '';

/** The beginning of a chosen file. */
interface Preview {
  readonly file: File;
  readonly encoding: CsvEncoding;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Starts the workflow once for each row of a CSV file. */
export function CsvDialog({ workflow, onClose }: { workflow: WorkflowItem; onClose: () => void }) {
  const { t } = useTranslation();
  const params = { org: useOrg(), id: workflow.id };
  const detail = useQuery(endpointQuery('GET /orgs/:org/workflows/:id', { params }));
  const [isAtWork, setIsAtWork] = useState(false);
  const schema = detail.data?.flow_data.settings?.input_schema;
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={t('workflows.csv.title', { name: workflow.name })}
      closeOnClickOutside={false}
      closeOnEscape={!isAtWork}
      withCloseButton={!isAtWork}
    >
      {detail.isPending && <LoadingRows />}
      {detail.isError && <ErrorState error={detail.error} onRetry={() => void detail.refetch()} />}
      {detail.isSuccess && (
        <CsvForm
          workflowId={workflow.id}
          properties={inputPropertiesOf(isJsonObject(schema) ? schema : null)}
          onWork={setIsAtWork}
          onClose={onClose}
        />
      )}
    </Modal>
  );
}

function CsvForm({
  workflowId,
  properties,
  onWork,
  onClose,
}: {
  workflowId: number;
  properties: readonly InputProperty[];
  onWork: (isAtWork: boolean) => void;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [preview, setPreview] = useState<Preview | null>(null);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [isUnreadable, setIsUnreadable] = useState(false);
  const columns = chosen.map((name) =>
    name === IGNORED
      ? null
      : (properties.find((property) => property.name === name) ?? undeclaredProperty(name)),
  );
  const source = preview === null ? null : { ...preview, columns };
  const { run, begin, stop } = useCsvImport(workflowId, source);
  const isAtWork = run?.state === 'running';
  const isReady = preview !== null && preview.rows.length > 0 && columns.some((column) => column !== null);

  const take = async (file: File | null, encoding?: CsvEncoding) => {
    if (file === null) return;
    setIsUnreadable(false);
    try {
      const next = await readPreview(file, encoding ?? (await guessEncoding(file)));
      setPreview(next);
      setChosen(next.header.map((name) => memberFor(name, properties)));
    } catch {
      setPreview(null);
      setIsUnreadable(true);
    }
  };
  // While rows are being started, the dialog is closed by no key.
  useEffect(() => onWork(isAtWork), [isAtWork, onWork]);
  const isOver = run !== null && !isAtWork;
  if (run !== null && source !== null) {
    return (
      <Stack gap="sm">
        <Result run={run} source={source} workflowId={workflowId} />
        <Group justify="flex-end" gap="xs">
          {isAtWork && (
            <Button variant="default" onClick={stop} data-autofocus>
              {t('workflows.csv.stop')}
            </Button>
          )}
          {isOver && run.state !== 'done' && (
            <Button variant="default" onClick={begin}>
              {t('workflows.csv.continue')}
            </Button>
          )}
          {isOver && <Button onClick={onClose}>{t('common.close')}</Button>}
        </Group>
      </Stack>
    );
  }
  return (
    <Stack gap="sm">
      <Muted>{t('workflows.csv.hint')}</Muted>
      <Group gap="xs" align="flex-end">
        <FileButton
          accept="text/csv,text/tab-separated-values,.csv,.tsv,.txt"
          onChange={(file) => void take(file)}
        >
          {(props) => (
            <Button {...props} variant="default" leftSection={<FileUp size={14} aria-hidden />}>
              {t('workflows.chooseFile')}
            </Button>
          )}
        </FileButton>
        {preview !== null && (
          <>
            <Muted truncate maw={260}>
              {preview.file.name}
            </Muted>
            <Select
              label={t('workflows.csv.encoding')}
              size="xs"
              w={150}
              allowDeselect={false}
              data={CSV_ENCODINGS.map((value) => ({ value, label: value.toUpperCase() }))}
              value={preview.encoding}
              onChange={(value) => void take(preview.file, value as CsvEncoding)}
            />
          </>
        )}
      </Group>
      {isUnreadable && (
        <Alert color="red" role="alert">
          {t('workflows.csv.unreadable')}
        </Alert>
      )}
      {preview !== null && preview.rows.length === 0 && (
        <Alert color="yellow" role="alert">
          {t('workflows.csv.empty')}
        </Alert>
      )}
      {preview !== null && preview.rows.length > 0 && (
        <>
          <Columns preview={preview} properties={properties} chosen={chosen} onChange={setChosen} />
          <Inputs preview={preview} columns={columns} />
        </>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t('common.cancel')}
        </Button>
        <Button disabled={!isReady} onClick={begin}>
          {t('workflows.csv.start')}
        </Button>
      </Group>
    </Stack>
  );
}

async function readPreview(file: File, encoding: CsvEncoding): Promise<Preview> {
  const rows: (readonly string[])[] = [];
  for await (const { cells } of readCsvRows(file, encoding)) {
    rows.push(cells);
    if (rows.length > PREVIEW_ROWS) break;
  }
  const [header = [], ...rest] = rows;
  return { file, encoding, header: header.map((name) => name.trim()), rows: rest };
}

/** The member with the column's name or title; a name that isn't declared is used as it is. */
function memberFor(name: string, properties: readonly InputProperty[]): string {
  const isSame = (text: string | null) => text?.trim().toLowerCase() === name.toLowerCase();
  const exact = properties.find((property) => property.name === name);
  return (exact ?? properties.find((each) => isSame(each.name) || isSame(each.title)))?.name ?? name;
}

/** What each column becomes. */
function Columns({
  preview,
  properties,
  chosen,
  onChange,
}: {
  preview: Preview;
  properties: readonly InputProperty[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}) {
  const { t } = useTranslation();
  const optionsFor = (header: string) => {
    const names = new Set([...properties.map(({ name }) => name), ...(header === '' ? [] : [header])]);
    return [
      { value: IGNORED, label: t('workflows.csv.ignored') },
      ...[...names].map((name) => {
        const property = properties.find((each) => each.name === name);
        const types = property?.types.join(', ') ?? '';
        return { value: name, label: types === '' ? name : `${name} (${types})` };
      }),
    ];
  };
  const missing = properties.filter(({ name, isRequired }) => isRequired && !chosen.includes(name));
  return (
    <Stack gap={6}>
      <Text size="sm" fw={600}>
        {t('workflows.csv.columns')}
      </Text>
      <Stack gap={6} mah={220} style={{ overflowY: 'auto' }}>
        {preview.header.map((header, index) => (
          <Group key={index} gap="xs" wrap="nowrap">
            <Text size="sm" w="40%" truncate title={header}>
              {header === '' ? t('workflows.csv.unnamed', { number: index + 1 }) : header}
            </Text>
            <Select
              aria-label={t('workflows.csv.columnNamed', {
                name: header === '' ? String(index + 1) : header,
              })}
              size="xs"
              flex={1}
              allowDeselect={false}
              data={optionsFor(header)}
              value={chosen[index] ?? IGNORED}
              onChange={(value) =>
                onChange(chosen.map((old, at) => (at === index ? (value ?? IGNORED) : old)))
              }
            />
          </Group>
        ))}
      </Stack>
      {missing.length > 0 && (
        <Alert color="yellow" p="xs">
          {t('workflows.csv.missing', {
            names: missing.map(({ name }) => name).join(t('common.listSeparator')),
          })}
        </Alert>
      )}
    </Stack>
  );
}

/** The inputs that the first rows become. */
function Inputs({ preview, columns }: { preview: Preview; columns: readonly (InputProperty | null)[] }) {
  const { t } = useTranslation();
  return (
    <Stack gap={6}>
      <Text size="sm" fw={600}>
        {t('workflows.csv.preview')}
      </Text>
      <Table withRowBorders aria-label={t('workflows.csv.preview')}>
        <Table.Tbody>
          {preview.rows.slice(0, PREVIEW_ROWS).map((cells, index) => (
            <Table.Tr key={index}>
              <Table.Td w={36}>
                <Hint>{index + 1}</Hint>
              </Table.Td>
              <Table.Td>
                <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }} lineClamp={3}>
                  {stringifyJson(inputOfRow(cells, columns))}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}

function Result({ run, source, workflowId }: { run: ImportRun; source: CsvSource; workflowId: number }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { percent, started, refused, executions, state, reason } = run;
  const counts = { started: started.toLocaleString(), refused: refused.size.toLocaleString() };
  return (
    <>
      <Progress
        value={state === 'done' ? 100 : percent}
        color={refused.size > 0 ? 'yellow' : 'teal'}
        aria-label={t('workflows.csv.progress')}
      />
      <Text size="sm" role="status">
        {t(`workflows.csv.state.${state}`)} {t('workflows.csv.counts', counts)}
      </Text>
      {reason !== null && (
        <Alert color="red" role="alert" title={t('workflows.csv.broken')}>
          {reason}
        </Alert>
      )}
      {executions.length > 0 && (
        <Stack gap={4}>
          <Text size="sm" fw={600}>
            {t('workflows.csv.started')}
          </Text>
          <Text size="sm" component="div" mah={96} style={{ overflowY: 'auto' }}>
            {executions.map(({ row, executionId }, index) => (
              <span key={row}>
                {index > 0 && t('common.listSeparator')}
                <Anchor component={Link} to={`/o/${org}/executions/${executionId}`} size="sm">
                  #{executionId}
                </Anchor>
              </span>
            ))}
          </Text>
          <Anchor component={Link} to={`/o/${org}/executions?workflow=${workflowId}`} size="sm">
            {t('workflows.csv.allExecutions')}
          </Anchor>
        </Stack>
      )}
      {refused.size > 0 && <Refused refused={refused} source={source} isAtWork={state === 'running'} />}
    </>
  );
}

function Refused({
  refused,
  source,
  isAtWork,
}: {
  refused: ReadonlyMap<number, string>;
  source: CsvSource;
  isAtWork: boolean;
}) {
  const { t } = useTranslation();
  const download = async () => {
    const file = await refusedRowsFile(source, refused, t('workflows.csv.reason'));
    const address = URL.createObjectURL(file);
    const link = document.createElement('a');
    link.href = address;
    link.download = `${source.file.name.replace(/\.\w+$/, '')}-refused.csv`;
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {t('workflows.csv.refused')}
        </Text>
        <Button
          variant="default"
          size="xs"
          leftSection={<Download size={14} aria-hidden />}
          disabled={isAtWork}
          onClick={() => void download()}
        >
          {t('workflows.csv.download')}
        </Button>
      </Group>
      <Stack gap={2} mah={200} style={{ overflowY: 'auto' }} component="ul" m={0} pl="md">
        {[...refused].slice(0, MAX_SHOWN).map(([row, reason]) => (
          <Text key={row} size="sm" component="li" style={{ overflowWrap: 'anywhere' }}>
            {t('workflows.csv.row', { number: row, reason })}
          </Text>
        ))}
      </Stack>
    </Stack>
  );
}
