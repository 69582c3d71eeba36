import { cronOf } from '@millrace/editor-model/about-node.ts';
import type { StepData } from '@millrace/editor-model/display.ts';
import { lazy, Suspense } from 'react';

const CronWords = lazy(() => import('@millrace/editor-model/cron-words.tsx'));

/** What a node does, else its type, or its id in templates if the title already names the type. */
export function AboutNode({
  node,
  type,
  title,
  about,
}: Pick<StepData, 'node' | 'type' | 'title'> & { about: string | undefined }) {
  const cron = cronOf(node);
  if (cron !== null) {
    return (
      <Suspense fallback={cron}>
        <CronWords cron={cron} unreadable={cron} />
      </Suspense>
    );
  }
  return about ?? (title === type?.title ? node.id : (type?.title ?? node.type));
}
