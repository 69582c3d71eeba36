import { lazy, Suspense } from 'react';
import { cronOf } from '../model/about-node.ts';
import type { StepData } from '../model/display.ts';

const AboutCron = lazy(() => import('./about-cron.tsx'));

/** What a node does; else what it is, or where its title says that already, how templates call it. */
export function AboutNode({ node, type, title, about }: Pick<StepData, 'node' | 'type' | 'title' | 'about'>) {
  const cron = cronOf(node);
  if (cron !== null) {
    return (
      <Suspense fallback={cron}>
        <AboutCron cron={cron} />
      </Suspense>
    );
  }
  return about ?? (title === type?.title ? node.id : (type?.title ?? node.type));
}
