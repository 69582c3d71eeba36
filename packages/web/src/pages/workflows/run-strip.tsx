import { Group, Tooltip } from '@mantine/core';
import type { RecentRun } from '@millrace/admin-api';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useOrg } from '../../api/me.ts';
import { formatDuration } from '../../ui/time.tsx';
import classes from './run-strip.module.css';

const PLACES = 20;

/** The last executions as small bars, latest at the right: height and colour tell how each ended. */
export function RunStrip({ runs }: { readonly runs: readonly RecentRun[] }) {
  const { t, i18n } = useTranslation();
  const org = String(useOrg());
  const empty = Array.from({ length: PLACES - runs.length }, (_, index) => `empty ${index}`);
  const failed = runs.filter(({ status }) => status === 'failed').length;
  return (
    <Group
      gap={2}
      wrap="nowrap"
      h={20}
      align="flex-end"
      role="group"
      aria-label={t('workflows.stripLabel', { count: runs.length, failed })}
    >
      {empty.map((key) => (
        <span key={key} className={classes.bar} data-status="none" />
      ))}
      {[...runs].reverse().map((run) => (
        <Tooltip
          key={run.id}
          label={`#${run.id} · ${t(`workflows.run.${run.status}`)} · ${new Date(run.created_at).toLocaleString(i18n.language)}${run.duration_ms === null ? '' : ` · ${formatDuration(run.duration_ms)}`}`}
        >
          <Link
            to="/o/$org/executions/$execution"
            params={{ org, execution: String(run.id) }}
            className={classes.bar}
            data-status={run.status}
            aria-label={`#${run.id} ${t(`workflows.run.${run.status}`)}`}
            tabIndex={-1}
            preload={false}
          />
        </Tooltip>
      ))}
    </Group>
  );
}
