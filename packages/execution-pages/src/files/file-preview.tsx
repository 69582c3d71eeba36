import '@millrace/ui/i18n/parts/executions.ts';
import '@millrace/ui/i18n/parts/files.ts';
import { Button, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ExecutionFile } from '@millrace/admin-api';
import { tryParseJson } from '@millrace/engine';
import { addressOf } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';

import { JsonViewer } from '@millrace/ui/components/json-viewer.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { essenceOf, kindOf, SHOWN_BYTES } from './file-kind.ts';
import { fileSize } from './file-size.ts';
import classes from './files.module.css';
import { type FilePart, readContent } from './read-content.ts';
import { decodeText, readLines, readTable } from './read-part.ts';

const PdfPages = lazyPart(
  async () => (await import('./pdf-pages.tsx')).PdfPages,
  () => <Skeleton h={240} />,
);

const NARROW = '(max-width: 48em)';

/** A look at a file: an image, the first pages of a PDF file, the first rows of a table, or its text. */
export function FilePreview({
  file,
  executionId,
  onClose,
}: {
  file: ExecutionFile;
  executionId: number;
  onClose: () => void;
}) {
  const { t, i18n } = useTranslation();
  const org = useOrg();
  const isNarrow = useMediaQuery(NARROW) ?? false;
  const kind = kindOf(file);
  const maxBytes = kind === null || kind === 'image' || kind === 'pdf' ? file.size : SHOWN_BYTES[kind];
  const content = useQuery({
    queryKey: ['content of a file', { org, execution: executionId, file: file.id }],
    queryFn: ({ signal }) => readContent({ org, executionId }, file, maxBytes, signal),
    staleTime: Number.POSITIVE_INFINITY,
    // Large ones aren't kept after the dialog is closed.
    gcTime: 0,
    structuralSharing: false,
  });
  const params = { org, execution: executionId, file: file.id };
  return (
    <Modal opened onClose={onClose} title={file.name} size="xl" fullScreen={isNarrow}>
      <Stack gap="sm">
        <Hint>
          {file.type} · {fileSize(file.size, i18n.language)}
        </Hint>
        {content.isError && <ErrorState error={content.error} onRetry={() => void content.refetch()} />}
        {content.isPending && <Skeleton h={240} />}
        {content.data !== undefined && <Content file={file} part={content.data} />}
        <Button
          component="a"
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          href={addressOf('GET /orgs/:org/executions/:execution/files/:file', { params })}
          download={file.name}
          style={{ alignSelf: 'flex-end' }}
        >
          {t('files.downloadShort')}
        </Button>
      </Stack>
    </Modal>
  );
}

function Content({ file, part }: { file: ExecutionFile; part: FilePart }) {
  switch (kindOf(file)) {
    case 'image':
      return <Picture file={file} part={part} />;
    case 'pdf':
      return <PdfPages bytes={part.bytes} name={file.name} />;
    case 'table':
      return <TableRows name={file.name} part={part} />;
    case 'json':
    case 'jsonl':
      return <Json file={file} part={part} />;
    default:
      return <PlainText name={file.name} part={part} />;
  }
}

function Picture({ file, part }: { file: ExecutionFile; part: FilePart }) {
  const { t } = useTranslation();
  const [address, setAddress] = useState<string | null>(null);
  const [isBroken, setIsBroken] = useState(false);
  const type = essenceOf(file);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([part.bytes], { type }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [part, type]);
  if (isBroken) return <Muted role="alert">{t('files.broken')}</Muted>;
  if (address === null) return <Skeleton h={240} />;
  return <img className={classes.image} src={address} alt={file.name} onError={() => setIsBroken(true)} />;
}

function Cut({ isCut }: { isCut: boolean }) {
  const { t } = useTranslation();
  return isCut ? <Text size="xs">{t('files.beginning')}</Text> : null;
}

function TableRows({ name, part }: { name: string; part: FilePart }) {
  const { names, rows, hasMore } = useMemo(
    () => readTable(decodeText(part.bytes, part.isCut), part.isCut),
    [part],
  );
  return (
    <>
      <Cut isCut={hasMore} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section className={classes.scroll} tabIndex={0} aria-label={name}>
        <table className={classes.table}>
          <thead>
            <tr>
              {names.map((each, at) => (
                <th key={at} scope="col">
                  {each}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {row.map((cell, at) => (
                  <td key={at}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function Json({ file, part }: { file: ExecutionFile; part: FilePart }) {
  const { value, hasMore } = useMemo(() => {
    const text = decodeText(part.bytes, part.isCut);
    if (kindOf(file) === 'json')
      return { value: part.isCut ? undefined : tryParseJson(text), hasMore: false };
    const lines = readLines(text, part.isCut);
    return { value: lines.values, hasMore: lines.hasMore };
  }, [file, part]);
  if (value === undefined) return <PlainText name={file.name} part={part} />;
  return (
    <>
      <Cut isCut={hasMore} />
      <JsonViewer value={value} label={file.name} fileName={file.name} />
    </>
  );
}

function PlainText({ name, part }: { name: string; part: FilePart }) {
  const text = useMemo(() => decodeText(part.bytes, part.isCut), [part]);
  return (
    <>
      <Cut isCut={part.isCut} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section className={classes.scroll} tabIndex={0} aria-label={name}>
        <pre className={classes.text}>{text}</pre>
      </section>
    </>
  );
}
