import { Alert, Anchor, Button, Group, Modal, Progress, Stack, Text } from '@mantine/core';
import type { ExecutionItem } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type BulkAction, type BulkRun, useBulkRun } from './bulk-run.ts';

/** Maximum executions listed per reason. */
const MAX_NAMED = 20;

/** Confirms, processes the executions one by one, and lists those that were rejected. */
export function BulkDialog({
  action,
  items,
  onClose,
  onDone,
}: {
  action: BulkAction;
  items: readonly ExecutionItem[];
  onClose: () => void;
  onDone: () => void;
}) {
  const { t } = useTranslation();
  // The selection may change meanwhile: ended executions can't be cancelled any more.
  const [targets] = useState(items);
  const { run, begin, stop } = useBulkRun(action, targets);
  const isAtWork = run !== null && !run.isOver;
  const close = () => {
    stop();
    onClose();
    if (run !== null && run.done === run.total) onDone();
  };
  const count = { count: targets.length, shown: targets.length.toLocaleString() };
  const texts = {
    cancel: [t('runs.bulk.cancelTitle', count), t('runs.bulk.cancelText')],
    rerun: [t('runs.bulk.rerunTitle', count), t('runs.bulk.rerunText')],
    rerunFailed: [t('runs.bulk.rerunTitle', count), t('runs.bulk.rerunFailedText')],
  } as const;
  const [title, text] = texts[action];
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      closeOnClickOutside={!isAtWork}
      closeOnEscape={!isAtWork}
      withCloseButton={!isAtWork}
    >
      <Stack gap="sm">
        {run === null ? <Text size="sm">{text}</Text> : <Result run={run} />}
        <Group justify="flex-end" gap="xs">
          {run === null && (
            <>
              <Button variant="default" onClick={close}>
                {t('common.close')}
              </Button>
              <Button color={action === 'cancel' ? 'red' : 'teal'} onClick={begin} data-autofocus>
                {action === 'cancel' ? t('runs.bulk.cancelAction', count) : t(`runs.bulk.action.${action}`)}
              </Button>
            </>
          )}
          {isAtWork && (
            <Button variant="default" onClick={stop}>
              {t('runs.bulk.stop')}
            </Button>
          )}
          {run?.isOver === true && <Button onClick={close}>{t('common.close')}</Button>}
        </Group>
      </Stack>
    </Modal>
  );
}

function Result({ run }: { run: BulkRun }) {
  const { t } = useTranslation();
  const { total, done, refused, brokenBy, isOver, isStopped } = run;
  const refusals = [...refused.values()].reduce((sum, items) => sum + items.length, 0);
  const looked = done + refusals;
  const numbers = { done: looked.toLocaleString(), total: total.toLocaleString() };
  return (
    <>
      <Progress
        value={(looked / Math.max(1, total)) * 100}
        color={refusals > 0 ? 'yellow' : 'teal'}
        aria-label={t('runs.bulk.progress', numbers)}
      />
      <Text size="sm" role="status">
        {isOver
          ? t('runs.bulk.done', { count: done, shown: done.toLocaleString() })
          : t('runs.bulk.progress', numbers)}
        {isStopped && ` ${t('runs.bulk.stopped')}`}
      </Text>
      {brokenBy !== null && (
        <Alert color="red" variant="light" role="alert" title={t('runs.bulk.broken')}>
          {t('runs.bulk.brokenText', { reason: brokenBy })}
        </Alert>
      )}
      {refusals > 0 && (
        <Stack gap={6} role="alert">
          <Text size="sm" fw={500} c="light-dark(var(--mantine-color-red-9), var(--mantine-color-red-4))">
            {t('runs.bulk.failed', { count: refusals, shown: refusals.toLocaleString() })}
          </Text>
          <Stack gap={8} mah={280} style={{ overflowY: 'auto' }} component="ul" m={0} pl="md">
            {[...refused].map(([reason, items]) => (
              <Refusal key={reason} reason={reason} items={items} />
            ))}
          </Stack>
        </Stack>
      )}
    </>
  );
}

/** All executions rejected for the same reason. */
function Refusal({ reason, items }: { reason: string; items: readonly ExecutionItem[] }) {
  const { t } = useTranslation();
  const org = useOrg();
  return (
    <li>
      <Text size="sm">
        {items.length.toLocaleString()} × {reason}
      </Text>
      <Hint component="div">
        {items.slice(0, MAX_NAMED).map((item, index) => (
          <span key={item.id}>
            {index > 0 && ', '}
            <Anchor
              component={Link}
              to={`/o/${org}/executions/${item.id}`}
              size="xs"
              title={item.display_name}
            >
              #{item.id}
            </Anchor>
          </span>
        ))}
        {items.length > MAX_NAMED &&
          ` ${t('executions.detail.moreChildren', { count: items.length - MAX_NAMED })}`}
      </Hint>
    </li>
  );
}
