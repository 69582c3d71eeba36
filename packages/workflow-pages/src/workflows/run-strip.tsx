import { Group, Tooltip } from '@mantine/core';
import type { RecentRun } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { formatDuration } from '@millrace/ui/components/time.tsx';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './run-strip.module.css';

const BAR_COUNT = 20;
const STEPS: { readonly [key: string]: number } = { ArrowLeft: -1, ArrowRight: 1 };

/**
 * The last executions as small bars, latest on the right: height and colour show how each ended. One Tab stop; the
 * arrow keys move between bars.
 */
export function RunStrip({ runs }: { runs: readonly RecentRun[] }) {
  const { t, i18n } = useTranslation();
  const org = String(useOrg());
  const bars = useRef<HTMLDivElement>(null);
  const shown = [...runs].reverse();
  const [reached, setReached] = useState<number | null>(null);
  // Runs come and go: if the focused one is gone, use the latest.
  const stop = shown.find(({ id }) => id === reached) ?? shown.at(-1);
  const empty = Array.from({ length: BAR_COUNT - runs.length }, (_, index) => `empty ${index}`);
  const failed = runs.filter(({ status }) => status === 'failed').length;
  const onKeyDown = (event: KeyboardEvent) => {
    const links = [...(bars.current?.querySelectorAll('a') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    const next = { Home: 0, End: links.length - 1 }[event.key] ?? at + (STEPS[event.key] ?? Number.NaN);
    if (at < 0 || Number.isNaN(next)) return;
    event.preventDefault();
    links[Math.min(links.length - 1, Math.max(0, next))]?.focus();
  };
  const describe = ({ id, status, created_at: at, duration_ms: ms, is_trial: isTrial }: RecentRun) =>
    [
      `#${id}`,
      t(`executions.status.${status}`),
      new Date(at).toLocaleString(i18n.language),
      ms === null ? null : formatDuration(ms),
      isTrial ? t('executions.trial') : null,
    ]
      .filter((part) => part !== null)
      .join(' · ');
  return (
    <Group
      ref={bars}
      gap={0}
      wrap="nowrap"
      h={20}
      align="flex-end"
      role="group"
      aria-label={
        runs.length === 0
          ? t('workflows.neverRan')
          : t('workflows.stripLabel', { count: runs.length, failed })
      }
      onKeyDown={onKeyDown}
    >
      {empty.map((key) => (
        <span key={key} className={classes.place}>
          <span className={classes.bar} data-status="none" />
        </span>
      ))}
      {shown.map((run) => (
        <Tooltip key={run.id} label={describe(run)} events={{ hover: true, focus: true, touch: false }}>
          <Link
            to="/o/$org/executions/$execution"
            params={{ org, execution: String(run.id) }}
            className={classes.place}
            aria-label={describe(run)}
            tabIndex={run === stop ? 0 : -1}
            onFocus={() => setReached(run.id)}
            preload={false}
          >
            <span className={classes.bar} data-status={run.status} data-trial={run.is_trial || undefined} />
          </Link>
        </Tooltip>
      ))}
    </Group>
  );
}
