import '@millrace/ui/i18n/parts/files.ts';
import { ActionIcon, Button, Group, Skeleton, Stack, Title, Tooltip } from '@mantine/core';
import type { ExecutionFile } from '@millrace/admin-api';
import { addressOf } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';

import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import {
  Download,
  FileImage,
  FileSpreadsheet,
  type LucideIcon,
  File as PlainFile,
  ScanEye,
} from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { kindOf, tooLargeFor } from './file-kind.ts';
import { fileSize } from './file-size.ts';
import classes from './files.module.css';

const FilePreview = lazyPart(async () => (await import('./file-preview.tsx')).FilePreview);

/** Files that are asked for at a time; the service takes no more. */
const PART = 50;

/** Those of other kinds are plain. */
const ICONS: { readonly [kind: string]: LucideIcon | undefined } = {
  image: FileImage,
  table: FileSpreadsheet,
};

/** Files of an execution, by their ids: what they are, to be saved or looked at. */
export function FileList({ ids, executionId }: { ids: readonly string[]; executionId: number }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(PART);
  const [opened, setOpened] = useState<ExecutionFile | null>(null);
  const starts = Array.from({ length: Math.ceil(Math.min(shown, ids.length) / PART) }, (_, at) => at * PART);
  return (
    <Stack gap={6}>
      <Title order={3} size="sm">
        {t('files.title', { count: ids.length })}
      </Title>
      <ul className={classes.list} aria-label={t('files.title', { count: ids.length })}>
        {starts.map((start) => (
          <Rows
            key={start}
            ids={ids.slice(start, start + PART)}
            executionId={executionId}
            onOpen={setOpened}
          />
        ))}
      </ul>
      {ids.length > shown && (
        <Button variant="default" size="xs" onClick={() => setShown(shown + PART)}>
          {t('files.more', { count: ids.length - shown })}
        </Button>
      )}
      {opened !== null && (
        <FilePreview file={opened} executionId={executionId} onClose={() => setOpened(null)} />
      )}
    </Stack>
  );
}

interface RowsProps {
  ids: readonly string[];
  executionId: number;
  onOpen: (file: ExecutionFile) => void;
}

function Rows({ ids, executionId, onOpen }: RowsProps) {
  const org = useOrg();
  const files = useQuery({
    ...endpointQuery('GET /orgs/:org/executions/:execution/files', {
      params: { org, execution: executionId },
      query: { ids: ids.join() },
    }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (files.isError) {
    return (
      <li>
        <ErrorState error={files.error} onRetry={() => void files.refetch()} />
      </li>
    );
  }
  if (files.data === undefined) {
    return (
      <li>
        <Skeleton h={32} />
      </li>
    );
  }
  const byId = new Map(files.data.items.map((file) => [file.id, file]));
  return ids.map((id) => <Row key={id} file={byId.get(id)} executionId={executionId} onOpen={onOpen} />);
}

function Row({
  file,
  executionId,
  onOpen,
}: Omit<RowsProps, 'ids'> & {
  /** Undefined: there is no such file, or it isn't this execution's. */
  file: ExecutionFile | undefined;
}) {
  const { t, i18n } = useTranslation();
  const org = useOrg();
  if (file === undefined) {
    return (
      <li className={classes.row}>
        <Muted>{t('files.unavailable')}</Muted>
      </li>
    );
  }
  const kind = kindOf(file);
  const Icon = ICONS[kind ?? ''] ?? PlainFile;
  const { id, name, type, size } = file;
  const isTooLarge = kind !== null && tooLargeFor(kind, size);
  return (
    <li className={classes.row}>
      <Icon size={16} aria-hidden className={classes.icon} />
      <div className={classes.name}>
        <span>{name}</span>
        <Hint component="div">
          {type} · {fileSize(size, i18n.language)}
        </Hint>
      </div>
      <Group gap={4} wrap="nowrap">
        {kind !== null && (
          <IconButton
            icon={ScanEye}
            variant="subtle"
            label={t('files.preview', { name })}
            hint={isTooLarge ? t('files.tooLarge') : t('files.previewShort')}
            disabled={isTooLarge}
            onClick={() => onOpen(file)}
          />
        )}
        <Tooltip label={t('files.downloadShort')}>
          <ActionIcon
            component="a"
            variant="subtle"
            aria-label={t('files.download', { name })}
            href={addressOf('GET /orgs/:org/executions/:execution/files/:file', {
              params: { org, execution: executionId, file: id },
            })}
            download={name}
          >
            <Download size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
    </li>
  );
}
