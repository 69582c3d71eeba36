import { Alert, Button, Group, Loader, Text } from '@mantine/core';
import type { ExecutionItem } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { SelectionBar } from '@millrace/ui/components/selection-bar.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { Link } from '@tanstack/react-router';
import { Ban, Columns2, ListChecks, RotateCw, StepForward } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isUnderWay } from '../common/under-way.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import type { BulkAction } from './bulk-run.ts';
import type { ListQuery } from './use-executions.ts';
import { type Gathering, MAX_MATCHING, type Matching, useMatching } from './use-matching.ts';

/** Actions on the selected executions, or on all that match the filters. */
export function BulkBar({
  items,
  query,
  isCut,
  hasMore,
  onGathered,
  onClear,
}: {
  items: readonly ExecutionItem[];
  query: ListQuery;
  /** All matching ones were requested, and there are more than the limit. */
  isCut: boolean;
  /** The list continues, and nothing is selected. */
  hasMore: boolean;
  onGathered: (matching: Matching) => void;
  onClear: () => void;
}) {
  const { t } = useTranslation();
  const [action, setAction] = useState<BulkAction | null>(null);
  const { gathering, error, gather, stop } = useMatching(query, onGathered);
  const cancellable = items.filter(({ status }) => isUnderWay(status));
  const ended = items.filter(({ status }) => !isUnderWay(status));
  const failed = items.filter(({ status }) => status === 'failed');
  const targets = { cancel: cancellable, rerun: ended, rerunFailed: failed };
  return (
    <SelectionBar
      label={t('runs.bulk.label')}
      count={t('runs.bulk.count', { count: items.length, shown: items.length.toLocaleString() })}
      clearLabel={t('runs.bulk.clear')}
      onClear={onClear}
      actions={
        <>
          {gathering === null && hasMore && (
            <Button variant="light" leftSection={<ListChecks size={14} aria-hidden />} onClick={gather}>
              {t('runs.bulk.all')}
            </Button>
          )}
          {gathering !== null && <Gathered gathering={gathering} onStop={stop} />}
          <Action name="cancel" icon={Ban} targets={cancellable} onClick={setAction} />
          <Action name="rerun" icon={RotateCw} targets={ended} onClick={setAction} />
          <Action name="rerunFailed" icon={StepForward} targets={failed} onClick={setAction} />
          <Compare items={items} />
        </>
      }
    >
      {isCut && (
        <Hint mt={4}>
          {t('runs.bulk.cut', { count: MAX_MATCHING, shown: MAX_MATCHING.toLocaleString() })}
        </Hint>
      )}
      {error !== null && (
        <Alert color="red" variant="light" mt="xs" role="alert">
          {t('runs.bulk.gatherFailed')} {error.message}
        </Alert>
      )}
      {action !== null && (
        <BulkDialog
          action={action}
          items={targets[action]}
          onClose={() => setAction(null)}
          onDone={onClear}
        />
      )}
    </SelectionBar>
  );
}

function Action({
  name,
  icon: Icon,
  targets,
  onClick,
}: {
  name: BulkAction;
  icon: typeof Ban;
  targets: readonly ExecutionItem[];
  onClick: (action: BulkAction) => void;
}) {
  const { t } = useTranslation();
  return (
    <Button
      variant="default"
      leftSection={<Icon size={14} aria-hidden />}
      disabled={targets.length === 0}
      onClick={() => onClick(name)}
    >
      {t(`runs.bulk.action.${name}`)} ({targets.length.toLocaleString()})
    </Button>
  );
}

/** Compares two executions, the earlier one on the left. */
function Compare({ items }: { items: readonly ExecutionItem[] }) {
  const { t } = useTranslation();
  const org = useOrg();
  const [b, a] = items;
  if (items.length !== 2 || a === undefined || b === undefined) return null;
  return (
    <Button
      component={Link}
      to={`/o/${org}/executions/compare?a=${a.id}&b=${b.id}`}
      variant="default"
      leftSection={<Columns2 size={14} aria-hidden />}
    >
      {t('runs.bulk.compare')}
    </Button>
  );
}

function Gathered({ gathering, onStop }: { gathering: Gathering; onStop: () => void }) {
  const { t } = useTranslation();
  const { count, lookedBackTo } = gathering;
  return (
    <Group gap={6}>
      <Loader size={14} aria-hidden />
      <Text size="sm" role="status">
        {t('runs.bulk.gathering', { count, shown: count.toLocaleString() })}
        {lookedBackTo !== null && (
          <>
            {' '}
            {t('runs.searchedTo')} <Moment at={lookedBackTo} relative={false} />
          </>
        )}
      </Text>
      <Button variant="subtle" color="gray" onClick={onStop}>
        {t('runs.bulk.stop')}
      </Button>
    </Group>
  );
}
