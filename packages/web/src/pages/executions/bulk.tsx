import { Anchor, Button, Group, Modal, Paper, Progress, Stack, Text } from '@mantine/core';
import type { ExecutionItem } from '@millrace/admin-api';
import { Link } from '@tanstack/react-router';
import { Ban, Columns2, RotateCw, StepForward, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useOrg } from '../../api/me.ts';
import { isUnderWay } from './use-now.ts';

type Action = 'cancel' | 'rerun' | 'rerunFailed';

/** So many are asked for at the same time. */
const AT_ONCE = 4;

/** What can be done with the executions that are selected. */
export function BulkBar({
  items,
  onClear,
}: {
  readonly items: readonly ExecutionItem[];
  readonly onClear: () => void;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const [action, setAction] = useState<Action | null>(null);
  const cancellable = items.filter(({ status }) => isUnderWay(status));
  const ended = items.filter(({ status }) => !isUnderWay(status));
  const failed = items.filter(({ status }) => status === 'failed');
  const targets = { cancel: cancellable, rerun: ended, rerunFailed: failed };
  const [b, a] = items;
  return (
    <Paper
      withBorder
      shadow="md"
      p="xs"
      role="toolbar"
      aria-label={t('executions.bulk.label')}
      style={{ position: 'sticky', bottom: 12, zIndex: 10 }}
    >
      <Group gap="xs">
        <Text size="sm" fw={500} role="status">
          {t('executions.bulk.count', { count: items.length })}
        </Text>
        <Button
          variant="default"
          leftSection={<Ban size={14} aria-hidden />}
          disabled={cancellable.length === 0}
          onClick={() => setAction('cancel')}
        >
          {t('executions.bulk.cancel')} ({cancellable.length})
        </Button>
        <Button
          variant="default"
          leftSection={<RotateCw size={14} aria-hidden />}
          disabled={ended.length === 0}
          onClick={() => setAction('rerun')}
        >
          {t('executions.bulk.rerun')} ({ended.length})
        </Button>
        <Button
          variant="default"
          leftSection={<StepForward size={14} aria-hidden />}
          disabled={failed.length === 0}
          onClick={() => setAction('rerunFailed')}
        >
          {t('executions.bulk.rerunFailed')} ({failed.length})
        </Button>
        {items.length === 2 && a !== undefined && b !== undefined && (
          <Button
            component={Link}
            to={`/o/${org}/executions/compare?a=${a.id}&b=${b.id}`}
            variant="default"
            leftSection={<Columns2 size={14} aria-hidden />}
          >
            {t('executions.bulk.compare')}
          </Button>
        )}
        <Button
          variant="subtle"
          color="gray"
          leftSection={<X size={14} aria-hidden />}
          onClick={onClear}
          ml="auto"
        >
          {t('executions.bulk.clear')}
        </Button>
      </Group>
      {action !== null && (
        <BulkDialog
          action={action}
          items={targets[action]}
          onClose={() => setAction(null)}
          onDone={onClear}
        />
      )}
    </Paper>
  );
}

interface Run {
  readonly total: number;
  readonly done: number;
  readonly failures: readonly { readonly item: ExecutionItem; readonly message: string }[];
  readonly isOver: boolean;
  readonly isStopped: boolean;
}

/** Asks, then does it one by one and tells of each that was refused. */
function BulkDialog({
  action,
  items,
  onClose,
  onDone,
}: {
  readonly action: Action;
  readonly items: readonly ExecutionItem[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  // What is selected may change while it is at work: ended ones cannot be cancelled any more.
  const [targets] = useState(items);
  const [run, setRun] = useState<Run | null>(null);
  const stop = useRef(false);
  const begin = async () => {
    setRun({ total: targets.length, done: 0, failures: [], isOver: false, isStopped: false });
    await forEach(
      targets,
      () => stop.current,
      async (item) => {
        const message = await perform(org, action, item.id).then(() => null, messageOf);
        setRun((before) =>
          before === null
            ? null
            : {
                ...before,
                done: before.done + 1,
                failures: message === null ? before.failures : [...before.failures, { item, message }],
              },
        );
      },
    );
    setRun((before) => (before === null ? null : { ...before, isOver: true, isStopped: stop.current }));
  };
  const close = () => {
    stop.current = true;
    onClose();
    if (run !== null && run.failures.length === 0) onDone();
  };
  const texts = {
    cancel: [t('executions.bulk.cancelTitle', { count: targets.length }), t('executions.bulk.cancelText')],
    rerun: [t('executions.bulk.rerunTitle', { count: targets.length }), t('executions.bulk.rerunText')],
    rerunFailed: [
      t('executions.bulk.rerunTitle', { count: targets.length }),
      t('executions.bulk.rerunFailedText'),
    ],
  } as const;
  const [title, text] = texts[action];
  return (
    <Modal opened onClose={close} title={title}>
      <Stack gap="sm">
        {run === null ? <Text size="sm">{text}</Text> : <RunState run={run} />}
        <Group justify="flex-end" gap="xs">
          {run === null && (
            <>
              <Button variant="default" onClick={close}>
                {t('common.close')}
              </Button>
              <Button
                color={action === 'cancel' ? 'red' : 'teal'}
                onClick={() => void begin()}
                data-autofocus
              >
                {t('executions.bulk.start')}
              </Button>
            </>
          )}
          {run !== null && !run.isOver && (
            <Button
              variant="default"
              onClick={() => {
                stop.current = true;
              }}
            >
              {t('executions.bulk.stop')}
            </Button>
          )}
          {run?.isOver === true && <Button onClick={close}>{t('common.close')}</Button>}
        </Group>
      </Stack>
    </Modal>
  );
}

function RunState({ run }: { readonly run: Run }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { total, done, failures, isOver, isStopped } = run;
  return (
    <>
      <Progress
        value={(done / Math.max(1, total)) * 100}
        color={failures.length > 0 ? 'yellow' : 'teal'}
        aria-label={t('executions.bulk.progress', { done, total })}
      />
      <Text size="sm" role="status">
        {isOver
          ? t('executions.bulk.done', { count: done - failures.length })
          : t('executions.bulk.progress', { done, total })}
        {isStopped && ` ${t('executions.bulk.stopped')}`}
      </Text>
      {failures.length > 0 && (
        <Stack gap={4} role="alert">
          <Text size="sm" fw={500} c="light-dark(var(--mantine-color-red-9), var(--mantine-color-red-4))">
            {t('executions.bulk.failed', { count: failures.length })}
          </Text>
          <Stack gap={4} mah={240} style={{ overflowY: 'auto' }} component="ul" m={0} pl="md">
            {failures.map(({ item, message }) => (
              <Text size="xs" component="li" key={item.id}>
                <Anchor component={Link} to={`/o/${org}/executions/${item.id}`} size="xs">
                  {item.display_name}
                </Anchor>
                : {message}
              </Text>
            ))}
          </Stack>
        </Stack>
      )}
    </>
  );
}

async function perform(org: number, action: Action, execution: number): Promise<void> {
  const params = { org, execution };
  if (action === 'cancel') {
    await call('POST /orgs/:org/executions/:execution/cancel', { params });
    return;
  }
  const from = action === 'rerun' ? ('start' as const) : ('failed_node' as const);
  await call('POST /orgs/:org/executions/:execution/rerun', { params, body: { from } });
}

async function forEach<T>(
  items: readonly T[],
  isStopped: () => boolean,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined && !isStopped(); item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
