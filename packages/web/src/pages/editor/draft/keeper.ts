import type { Answer, Draft, VersionDetail, WorkflowDetail } from '@millrace/admin-api';
import type { Flow } from '@millrace/engine';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { createStore, type StoreApi } from 'zustand';
import { isSame, type LocalCopy } from './local-copy.ts';

/** While the service cannot be reached, every change is sent; those in the middle are the least likely to have arrived. */
const MAX_FLOWS = 40;

/** What was sent and never answered: the service may have any of it, under a revision that isn't known here. */
class Unanswered {
  readonly #flows: Flow[] = [];

  get first(): Flow | null {
    return this.#flows[0] ?? null;
  }

  add(flow: Flow): void {
    if (this.#flows.length >= MAX_FLOWS) this.#flows.splice(MAX_FLOWS / 2, 1);
    this.#flows.push(flow);
  }

  has(flow: Flow): boolean {
    return this.#flows.some((each) => isSame(each, flow));
  }

  /** The service has answered: it has nothing that is not known here. */
  clear(): void {
    this.#flows.length = 0;
  }
}

type Kept = Answer<'PUT /orgs/:org/workflows/:id/draft'>;

/** What the keeper asks the service for. */
export interface KeeperApi {
  keep(draft: {
    readonly flow: Flow;
    readonly baseVersion: number;
    readonly revision: number;
    /** The page is going away. */
    readonly isLast: boolean;
  }): Promise<Kept>;
  save(version: {
    readonly flow: Flow;
    readonly baseVersion: number;
    /** Of the draft that this takes the place of. */
    readonly revision: number;
    readonly message: string;
  }): Promise<WorkflowDetail>;
}

/** Somebody else, or I elsewhere, was quicker. */
export type Conflict =
  | { readonly kind: 'draft'; readonly draft: Draft | null }
  | { readonly kind: 'version'; readonly version: VersionDetail; readonly message: string };

export interface KeeperState {
  /** `same`: as it is saved; `kept`: the service has my draft; `changed` and `failed`: it does not have all of it. */
  readonly status: 'same' | 'kept' | 'changed' | 'failed';
  readonly isSaving: boolean;
  /** When the service last kept the draft. */
  readonly keptAt: string | null;
  /** The version that was changed. */
  readonly baseVersion: number;
  /** Of the draft; 0: there is none. */
  readonly revision: number;
  /** A draft is on its way. */
  readonly isUnderWay: boolean;
  /** Why the service does not have the draft, while the status is `failed`; null: it cannot be reached. */
  readonly refusal: ApiProblem | null;
  /** While the status is `failed`: somebody put off to decide between this draft and another one. */
  readonly isUndecided: boolean;
  /** While the status is `failed`: the browser has it, also when the page is closed. */
  readonly isInBrowser: boolean;
  readonly conflict: Conflict | null;
  /** Why it cannot be saved as it is. */
  readonly structureErrors: Kept['structure_errors'];
}

const DELAY_MS = 800;
const RETRY_MS = 5_000;

export interface KeeperOptions {
  readonly api: KeeperApi;
  readonly flow: () => Flow;
  /** Counts the changes of the flow. */
  readonly changeCount: () => number;
  readonly initial: Pick<KeeperState, 'status' | 'keptAt' | 'baseVersion' | 'revision' | 'structureErrors'>;
  /** What is on the canvas was left behind in this browser, and the service has gone on without it. */
  readonly initialConflict?: Conflict;
  /** What the service found in the draft. */
  readonly onChecked: (kept: Kept) => void;
  readonly onSaved: (workflow: WorkflowDetail) => void;
  /** The service has all there is. */
  readonly onSettled: () => void;
  /** The page may go away before the service has this. @returns whether it is safe in the browser */
  readonly onLeft: (left: LocalCopy) => boolean;
  /** The service does not have this, and why. Not called for conflicts. @returns whether it is safe in the browser */
  readonly onFailed: (left: LocalCopy, refusal: ApiProblem | null) => boolean;
}

/**
 * Sees to it that no change is lost: keeps the draft with the service a moment after each change, one call at a time,
 * and tries again while the service cannot be reached.
 */
export class DraftKeeper {
  readonly state: StoreApi<KeeperState>;
  readonly #options: KeeperOptions;
  #isDirty = false;
  #isStopped = false;
  /** The draft that is on its way. */
  #sent: Flow | null = null;
  readonly #unanswered = new Unanswered();
  /** Of these a version may have been made, and with it the draft ended. */
  readonly #unansweredSaves = new Unanswered();
  /** The count of changes at which the canvas showed what the service has. */
  #adoptedAt: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Calls follow each other: each needs the revision that the one before was given. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#adoptedAt = options.changeCount();
    this.state = createStore<KeeperState>()(() => ({
      ...options.initial,
      isSaving: false,
      isUnderWay: false,
      refusal: null,
      isUndecided: false,
      isInBrowser: false,
      conflict: options.initialConflict ?? null,
    }));
    this.#isDirty = options.initialConflict !== undefined;
  }

  /** The flow has changed. */
  changed(): void {
    if (this.#options.changeCount() === this.#adoptedAt) return;
    this.#isDirty = true;
    if (this.state.getState().status !== 'failed') this.state.setState({ status: 'changed' });
    this.#schedule(DELAY_MS);
  }

  /** Keeps what is not kept yet, now. @param isLast the page is going away */
  keepNow(isLast = false): Promise<unknown> {
    clearTimeout(this.#timer);
    // What is under way may never be answered; whoever comes back finds the local copy.
    if (isLast && this.state.getState().isUnderWay) return Promise.resolve();
    return this.#enqueue(() => this.#keep(isLast));
  }

  /** The page is left, for good or to come back. @param isLast it is going away */
  leave(isLast: boolean): void {
    if (!this.hasUnkept) return;
    this.putAside();
    void this.keepNow(isLast);
  }

  /** Puts what the service does not have aside in the browser. @returns false: it would be lost if the page went away now */
  putAside(): boolean {
    return !this.hasUnkept || this.#options.onLeft(this.left);
  }

  /** Whether changes exist that the service has not confirmed. */
  get hasUnkept(): boolean {
    return this.#isDirty || this.state.getState().isUnderWay;
  }

  /** What would be lost if the page went away now. */
  get left(): LocalCopy {
    const { baseVersion, revision } = this.state.getState();
    return { flow: this.#options.flow(), baseVersion, revision, sent: this.#sent ?? this.#unanswered.first };
  }

  /** Makes a version of what is on the canvas. @returns whether it was made */
  save(message = ''): Promise<boolean> {
    clearTimeout(this.#timer);
    this.state.setState({ isSaving: true });
    return this.#enqueue(async () => {
      try {
        return await this.#save(message);
      } finally {
        this.state.setState({ isSaving: false });
      }
    });
  }

  /** The present flow stands, whatever the other one was. */
  async keepMine(): Promise<boolean> {
    const { conflict } = this.state.getState();
    if (conflict === null) return true;
    if (conflict.kind === 'version') {
      this.state.setState({ baseVersion: conflict.version.version, conflict: null });
      return this.save(conflict.message);
    }
    await this.#goOn();
    return this.state.getState().conflict === null;
  }

  /** What is on the canvas now has taken the other one in: it is kept as a draft that follows both. */
  async keepBoth(): Promise<void> {
    const { conflict, baseVersion } = this.state.getState();
    const theirs = conflict?.kind === 'version' ? conflict.version.version : conflict?.draft?.base_version;
    this.state.setState({ baseVersion: Math.max(baseVersion, theirs ?? 0) });
    await this.#goOn();
  }

  async #goOn(): Promise<void> {
    const { conflict, revision } = this.state.getState();
    const next = conflict?.kind === 'draft' ? (conflict.draft?.revision ?? 0) : revision;
    this.state.setState({ revision: next, conflict: null });
    this.#isDirty = true;
    await this.keepNow();
  }

  /** Neither: the canvas stays as it is and is decided on later. */
  postpone(): void {
    const { conflict } = this.state.getState();
    this.state.setState({ conflict: null });
    // A version's conflict comes back when saving; a draft's as soon as something changes.
    if (conflict?.kind === 'draft') {
      this.state.setState({
        status: 'failed',
        refusal: null,
        isUndecided: true,
        isInBrowser: this.putAside(),
      });
    }
  }

  /** The canvas now shows what the service has: a saved version, or a draft. */
  adopt(found: { readonly version: number; readonly draft?: Draft }): void {
    clearTimeout(this.#timer);
    this.#isDirty = false;
    this.#adoptedAt = this.#options.changeCount();
    this.state.setState({
      status: found.draft === undefined ? 'same' : 'kept',
      refusal: null,
      keptAt: found.draft?.updated_at ?? null,
      baseVersion: found.draft?.base_version ?? found.version,
      revision: found.draft?.revision ?? 0,
      conflict: null,
      structureErrors: found.draft?.structure_errors ?? [],
    });
    this.#options.onSettled();
  }

  /** The page is there: what changes is kept. */
  start(): void {
    this.#isStopped = false;
    if (this.#isDirty) this.#schedule(DELAY_MS);
  }

  /** The page has gone: what is under way ends, and nothing is begun any more. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #keep(isLast: boolean): Promise<void> {
    const { baseVersion, revision, conflict } = this.state.getState();
    if (!this.#isDirty || conflict !== null) return;
    this.#isDirty = false;
    const flow = this.#options.flow();
    this.#sent = flow;
    this.state.setState({ isUnderWay: true });
    try {
      const kept = await this.#options.api.keep({ flow, baseVersion, revision, isLast });
      this.#unanswered.clear();
      this.state.setState({
        status: this.#isDirty ? 'changed' : 'kept',
        keptAt: kept.updated_at,
        revision: kept.revision,
        structureErrors: kept.structure_errors,
        refusal: null,
      });
      this.#options.onChecked(kept);
      if (!this.#isDirty) this.#options.onSettled();
    } catch (error) {
      this.#isDirty = true;
      if (isUnanswered(error)) this.#unanswered.add(flow);
      this.#failed(error);
    } finally {
      this.#sent = null;
      this.state.setState({ isUnderWay: false });
    }
  }

  async #save(message: string): Promise<boolean> {
    const { baseVersion, revision } = this.state.getState();
    const flow = this.#options.flow();
    this.#isDirty = false;
    try {
      const workflow = await this.#options.api.save({ flow, baseVersion, revision, message });
      this.#unanswered.clear();
      this.#unansweredSaves.clear();
      this.state.setState({
        status: this.#isDirty ? 'changed' : 'same',
        keptAt: null,
        baseVersion: workflow.version,
        revision: 0,
        structureErrors: [],
      });
      this.#options.onSaved(workflow);
      if (!this.#isDirty) this.#options.onSettled();
      return true;
    } catch (error) {
      this.#isDirty = true;
      if (isUnanswered(error)) this.#unansweredSaves.add(flow);
      if (error instanceof ApiProblem && error.code === 'version_conflict') {
        const { version } = error.answer as { readonly version: VersionDetail };
        // Saved before, and the answer was lost: what is here now follows it, and saving the same makes no version.
        if (baseVersion < version.version && this.#isMine(version.flow_data)) {
          this.state.setState({ baseVersion: version.version });
          return await this.#save(message);
        }
        this.state.setState({ conflict: { kind: 'version', version, message } });
        return false;
      }
      if (error instanceof ApiProblem && error.code === 'draft_conflict') {
        this.#failed(error);
        return this.state.getState().conflict === null && (await this.#save(message));
      }
      throw error;
    } finally {
      if (this.#isDirty) this.#schedule(DELAY_MS);
    }
  }

  #failed(error: unknown): void {
    if (error instanceof ApiProblem && error.code === 'draft_conflict') {
      const { draft } = error.answer as { readonly draft: Draft | null };
      if (draft !== null && this.#isOnCanvas(draft.flow_data)) {
        // Kept before, and the answer was lost: there is nothing to decide.
        this.adopt({ version: draft.base_version, draft });
        this.#options.onChecked(draft);
        return;
      }
      const isSaved = draft === null && this.#unansweredSaves.first !== null;
      if (isSaved || (draft !== null && this.#isMine(draft.flow_data))) {
        // The same, and one has gone on here since.
        this.state.setState({ status: 'changed', refusal: null, revision: draft?.revision ?? 0 });
        this.#schedule(0);
        return;
      }
      this.state.setState({ status: 'changed', conflict: { kind: 'draft', draft } });
      return;
    }
    const refusal = error instanceof ApiProblem ? error : null;
    const isInBrowser = this.#options.onFailed(this.left, refusal);
    this.state.setState({ status: 'failed', refusal, isUndecided: false, isInBrowser });
    this.#schedule(RETRY_MS);
  }

  #isOnCanvas(flow: Flow): boolean {
    return isSame(flow, this.#options.flow());
  }

  /** Whether a flow that the service has was sent from here. */
  #isMine(flow: Flow): boolean {
    return this.#isOnCanvas(flow) || this.#unanswered.has(flow) || this.#unansweredSaves.has(flow);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.keepNow(), ms);
  }

  #enqueue<Result>(act: () => Promise<Result>): Promise<Result> {
    const next = this.#queue.then(act);
    this.#queue = next.catch(() => undefined);
    return next;
  }
}

/** Whether the service may have carried out the request although no answer arrived. */
function isUnanswered(error: unknown): boolean {
  return !(error instanceof ApiProblem) || error.status >= 500;
}
