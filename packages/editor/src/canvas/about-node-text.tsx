import { lazy, Suspense } from 'react';
import { cronOf } from '../model/about-node.ts';
import type { StepData } from '../model/display.ts';

const CronWords = lazy(() => import('../model/cron-words.tsx'));

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
