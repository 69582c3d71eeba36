import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logRates, readReleases } from '@millrace/testing/rate-log';
import { Client } from '../faults/support/client.ts';
import { freshFolder } from '../faults/support/folders.ts';
import { countPutOff, type ExecutionRow, readExecutions, readNodeEnds } from '../faults/support/ledger.ts';
import { EVERY_SECOND, readFires, readScheduled } from '../faults/support/schedule.ts';
import { LONG_LEASE } from '../faults/support/service-process.ts';
import { until } from '../faults/support/until.ts';
import { addOrganisation, World } from '../faults/support/world.ts';
import { NEVER_SHEDS } from '../never-sheds.ts';
import { Cancellations } from './cancellations.ts';
import { noteClaims, readTakeOvers } from './claims.ts';
import { Disk } from './disk.ts';
import type { Detail, EndedProcess, Evidence } from './evidence.ts';
import { Fleet } from './fleet.ts';
import { Injector } from './injector.ts';
import { flowOf, isCalled, isGreedy, KINDS, type Kind, planStarts, sha256Of } from './mix.ts';
import type { CampaignOptions } from './options.ts';
import { Outside } from './outside.ts';
import { planFaults } from './plan.ts';
import { Random } from './random.ts';
import { type Report, summarise } from './report.ts';
import { Starts } from './starts.ts';
import { judge } from './verdict.ts';
import { countUnfinished, readFinals, Watch } from './watch.ts';

/** A campaign's processes, or a machine that is busy, may take this long; nothing is stuck before. */
const STUCK_MS = 180_000;
/** Executions that may wait: faults are to hit executions, not a queue. */
const MAX_BACKLOG = 120;
const PROGRESS_MS = 5_000;
/** PostgreSQL and its log; each start takes some more. */
const DISK_MEBIBYTES = 768;
const STARTS_PER_MEBIBYTE = 10;
const READERS = 8;

/** Without faults nothing is refused and no lease is lost, however busy the machine is. */
const CALM = { ...LONG_LEASE, ...NEVER_SHEDS };

/** So few calls at the same time that some have to wait for their turn. */
const HOST_CALLS = '6';

/** Where the campaign gets its server from, and where its progress goes. */
export interface CampaignDeps {
  /** A stopped server with the migrated template. */
  readonly preparedDataDir: string;
  readonly progress: (text: string) => void;
}

/** Runs a campaign. A report with findings names a folder with the logs and rows. */
export async function runCampaign(
  options: CampaignOptions,
  { preparedDataDir, progress }: CampaignDeps,
): Promise<Report & { readonly folder: string | null }> {
  const startedAt = performance.now();
  // Random choices of one thing must not depend on how many another one made.
  const starts = planStarts(new Random(options.seed), options.executions);
  const disk =
    options.faults === 0
      ? null
      : await Disk.mount(DISK_MEBIBYTES + Math.ceil(options.executions / STARTS_PER_MEBIBYTE));
  const dataDir = disk === null ? {} : { dataDir: disk.dataDir };
  const environment = {
    MILLRACE_FILES_FOLDER: freshFolder('files'),
    MILLRACE_ORGANISATION_HOST_CALLS: HOST_CALLS,
    ...(options.faults === 0 ? CALM : {}),
  };
  const world = await World.create({ preparedDataDir, ...dataDir }, environment);
  try {
    const campaign = await Campaign.open(options, world, disk);
    try {
      const evidence = await campaign.run(starts, progress);
      const verdict = judge(evidence);
      const isDiskMissing = options.faults > 0 && disk === null;
      const report = summarise(options, evidence, verdict, {
        seconds: (performance.now() - startedAt) / 1_000,
        missing: isDiskMissing ? 'disk full (no file system can be mounted here)' : null,
      });
      const folder = verdict.findings.length === 0 ? null : await campaign.keep(report, evidence);
      return { ...report, folder };
    } finally {
      await campaign.close();
    }
  } finally {
    await world.destroy();
  }
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #world: World;
  readonly #fleet: Fleet;
  readonly #outside: Outside;
  readonly #injector: Injector;
  readonly #starts: Starts;
  readonly #cancellations: Cancellations;
  readonly #watch: Watch;
  readonly #hasDisk: boolean;
  readonly #keys: { readonly ordinary: string; readonly greedy: string };
  readonly #workflows: ReadonlyMap<Kind, number>;
  readonly #schedule: number;

  private constructor(
    options: CampaignOptions,
    world: World,
    fleet: Fleet,
    disk: Disk | null,
    keys: { readonly ordinary: string; readonly greedy: string },
    workflows: ReadonlyMap<Kind, number>,
    webhooks: ReadonlyMap<Kind, string>,
    schedule: number,
  ) {
    this.#options = options;
    this.#world = world;
    this.#fleet = fleet;
    this.#hasDisk = disk !== null;
    this.#keys = keys;
    this.#workflows = workflows;
    this.#schedule = schedule;
    const apiUrl = (n: number) => fleet.apiUrl(n);
    this.#outside = new Outside(world.receiver, apiUrl);
    this.#injector = new Injector({ world, fleet, outside: this.#outside, disk });
    const tenants = {
      ...keys,
      workflowOf: (kind: Kind) => idOf(workflows, kind),
      webhookOf: (kind: Kind) => webhooks.get(kind) ?? '',
      apiUrl,
    };
    this.#cancellations = new Cancellations(tenants);
    this.#starts = new Starts(tenants, (start) => this.#cancellations.begin(start));
    this.#watch = new Watch(world.db);
  }

  static async open(options: CampaignOptions, world: World, disk: Disk | null): Promise<Campaign> {
    await noteClaims(world.db);
    await logRates(world.db);
    const fleet = await Fleet.start(world, options.apis, options.workers);
    const keys = { ordinary: world.apiKey, greedy: await addOrganisation(world.db, 'Greedy') };
    const workflows = new Map<Kind, number>();
    const webhooks = new Map<Kind, string>();
    for (const kind of KINDS) {
      const client = new Client(fleet.apiUrl(0), isGreedy(kind) ? keys.greedy : keys.ordinary);
      const flow = flowOf(
        kind,
        (path) => world.receiver.url(path),
        (other) => idOf(workflows, other),
      );
      const workflow = await client.createWorkflow(kind, flow);
      workflows.set(kind, workflow);
      if (isCalled(kind)) webhooks.set(kind, new URL(await client.webhookOf(workflow)).pathname);
    }
    const client = new Client(fleet.apiUrl(0), keys.ordinary);
    const schedule = await client.createWorkflow('every second', EVERY_SECOND);
    const response = await client.put(`/workflows/${schedule}`, { status: 'active' });
    if (!response.ok) throw new Error(`The schedule was not activated: ${await response.text()}`);
    return new Campaign(options, world, fleet, disk, keys, workflows, webhooks, schedule);
  }

  async run(starts: Parameters<Starts['run']>[0], progress: (text: string) => void): Promise<Evidence> {
    const { executions, faults, seed } = this.#options;
    const members = {
      apis: this.#fleet.apis.map(({ name }) => name),
      workers: this.#fleet.workers.map(({ name }) => name),
    };
    const plan = planFaults(new Random(seed), faults, members, this.#hasDisk);
    const say = () => progress(this.#describe());
    const timer = setInterval(say, PROGRESS_MS);
    try {
      const share = executions / Math.max(faults, 1);
      await Promise.all([
        this.#starts.run(starts, (n) =>
          this.#due(() => faults === 0 || n < (this.#injector.begun + 1) * share),
        ),
        this.#injector.run(plan, (n) =>
          this.#due(() => this.#starts.sent.length >= Math.floor(n * share) - 8),
        ),
      ]);
      progress('All starts were sent and all faults injected; waiting for the executions to end');
      await Promise.all([this.#outside.settled(), this.#cancellations.settled()]);
      await this.#archiveSchedule();
      await this.#allEnded();
      await this.#watch.stop();
      return await this.#collect();
    } finally {
      clearInterval(timer);
    }
  }

  /** Logs, rows and the report, for a look at what went wrong. @returns the folder */
  async keep(report: Report, evidence: Evidence): Promise<string> {
    const folder = join(tmpdir(), `millrace-campaign-${report.options.seed}-${process.pid}`);
    await mkdir(folder, { recursive: true });
    for (const { member, pid, service } of this.#fleet.members.flatMap(({ lives }) => lives)) {
      await writeFile(join(folder, `${member.replace(' ', '-')}-${pid}.log`), service.output);
    }
    const { details: _, files: ___, firstFinals, lastFinals, processes: __, ...rows } = evidence;
    const finals = { first: [...firstFinals.values()], last: [...lastFinals.values()] };
    const tables = { ...rows, finals, report };
    for (const [name, rows] of Object.entries(tables)) {
      await writeFile(join(folder, `${name}.json`), JSON.stringify(rows, null, 1));
    }
    return folder;
  }

  async close(): Promise<void> {
    await this.#watch.stop();
    await this.#fleet.stop();
  }

  #describe(): string {
    const { executions, faults } = this.#options;
    const { begun, injected } = this.#injector;
    return `${this.#starts.sent.length} of ${executions} starts sent, ${begun} of ${faults} faults begun (${injected.length} over), ${this.#watch.finals.size} executions ended`;
  }

  /** Waits for the condition, and until few executions wait; not for those that are stuck. */
  async #due(condition: () => boolean): Promise<void> {
    await until('a turn', condition, Number.POSITIVE_INFINITY);
    const isCaughtUp = () => this.#watch.unfinished < MAX_BACKLOG;
    await until('executions to end', isCaughtUp, STUCK_MS).catch(() => {});
  }

  async #archiveSchedule(): Promise<void> {
    await until('the schedule to be archived', async () => {
      const client = new Client(this.#fleet.apiUrl(0), this.#keys.ordinary);
      return (await client.archive(this.#schedule)).ok;
    });
  }

  /** Waits while executions still end, with a generous limit for the next one to do so. */
  async #allEnded(): Promise<void> {
    let left = Number.POSITIVE_INFINITY;
    while (left > 0) {
      const next = await until(
        'the end of another execution',
        async () => {
          const count = await countUnfinished(this.#world.db);
          return count < left ? { count } : null;
        },
        STUCK_MS,
      ).catch(() => null);
      if (next === null) return;
      left = next.count;
    }
  }

  async #collect(): Promise<Evidence> {
    const { db } = this.#world;
    const finals = await readFinals(db, null);
    const rows: ExecutionRow[] = [];
    for (const id of this.#workflows.values()) rows.push(...(await readExecutions(db, id)));
    const details = await this.#readDetails(rows.filter((row) => row.completed_at !== null));
    return {
      starts: this.#starts.sent,
      executions: rows,
      details,
      files: await this.#readFiles(details),
      calls: this.#outside.calls(),
      nodeEnds: await readNodeEnds(db),
      callbacks: this.#outside.callbacks,
      cancels: this.#cancellations.attempts,
      firstFinals: this.#watch.finals,
      lastFinals: new Map(finals.map(({ at: _, ...final }) => [final.id, final])),
      fires: await readFires(db, this.#schedule),
      scheduled: await readScheduled(db, this.#schedule),
      releases: await readReleases(db),
      putOff: await countPutOff(db),
      takeOvers: await readTakeOvers(db),
      faults: this.#injector.injected,
      processes: await this.#endedProcesses(),
    };
  }

  async #readDetails(rows: readonly ExecutionRow[]): Promise<Map<number, Detail>> {
    const greedy = new Set(
      (await readExecutions(this.#world.db, idOf(this.#workflows, 'greedy'))).map(({ id }) => id),
    );
    const details = new Map<number, Detail>();
    const left = rows.map(({ id }) => id);
    const read = async (): Promise<void> => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        const key = greedy.has(id) ? this.#keys.greedy : this.#keys.ordinary;
        const client = new Client(this.#fleet.apiUrl(id), key);
        const detail = await until(
          `execution ${id}`,
          () => client.get<Detail>(`/executions/${id}`),
          STUCK_MS,
        );
        details.set(id, detail);
      }
    };
    await Promise.all(Array.from({ length: READERS }, read));
    return details;
  }

  async #readFiles(details: ReadonlyMap<number, Detail>): Promise<Map<number, string>> {
    const files = new Map<number, string>();
    for (const [executionId, { node_outputs }] of details) {
      const file = node_outputs.result?.output.file as { readonly $file: string } | undefined;
      if (file === undefined) continue;
      const client = new Client(this.#fleet.apiUrl(executionId), this.#keys.ordinary);
      const content = await until(`the file of ${executionId}`, () => client.download(file.$file), STUCK_MS);
      files.set(executionId, sha256Of(content));
    }
    return files;
  }

  async #endedProcesses(): Promise<EndedProcess[]> {
    const ended = this.#fleet.members
      .flatMap(({ lives }) => lives)
      .filter(({ endedAtMs }) => endedAtMs !== null);
    return await Promise.all(
      ended.map(async ({ member, pid, end, endedAtMs, service }) => ({
        member,
        pid,
        end: end ?? 'by itself',
        endedAtMs: endedAtMs ?? 0,
        code: (await service.ended()).code,
        output: service.output.slice(-4_000),
      })),
    );
  }
}

function idOf(workflows: ReadonlyMap<Kind, number>, kind: Kind): number {
  const id = workflows.get(kind);
  if (id === undefined) throw new Error(`There is no workflow ${kind} yet`);
  return id;
}
