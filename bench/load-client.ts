import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { OpenLoop, OpenLoopResult } from './load/open-loop.ts';
import type { Saturation, SaturationResult } from './load/saturate.ts';
import type { Sequence, SequenceResult } from './load/sequence.ts';
import type { LoadJob, LoadReply } from './load-process.ts';

/** The load generator in a separate process, so that generating load and serving it don't wait for each other. */
export class LoadProcess {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(fileURLToPath(new URL('./load-process.ts', import.meta.url)));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  saturate(job: Omit<Saturation, 'kind'>): Promise<SaturationResult> {
    return this.#perform({ kind: 'saturate', ...job }) as Promise<SaturationResult>;
  }

  openLoop(job: Omit<OpenLoop, 'kind'>): Promise<OpenLoopResult> {
    return this.#perform({ kind: 'open-loop', ...job }) as Promise<OpenLoopResult>;
  }

  sequence(job: Omit<Sequence, 'kind'>): Promise<SequenceResult> {
    return this.#perform({ kind: 'sequence', ...job }) as Promise<SequenceResult>;
  }

  close(): void {
    this.#child.kill();
  }

  /** One job at a time. */
  #perform(job: LoadJob): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error('the load generator ended before its job'));
      this.#child.once('exit', ended);
      this.#child.once('message', (reply: LoadReply) => {
        this.#child.off('exit', ended);
        if ('error' in reply) reject(new Error(reply.error));
        else resolve(reply.result);
      });
      this.#child.send(job);
    });
  }
}
