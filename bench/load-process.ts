import { type OpenLoop, runOpenLoop } from './load/open-loop.ts';
import { type Saturation, saturate } from './load/saturate.ts';
import { runSequence, type Sequence } from './load/sequence.ts';

export type LoadJob = Saturation | OpenLoop | Sequence;
export type LoadReply = { readonly result: unknown } | { readonly error: string };

// The process that generates the load: receives jobs as messages and sends back their results.
process.on('message', (job: LoadJob) => {
  perform(job).then(
    (result) => reply({ result }),
    (error: unknown) => reply({ error: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit());

function perform(job: LoadJob): Promise<unknown> {
  switch (job.kind) {
    case 'saturate':
      return saturate(job);
    case 'open-loop':
      return runOpenLoop(job);
    case 'sequence':
      return runSequence(job);
  }
}

function reply(message: LoadReply): void {
  process.send?.(message);
}
