import type { Draft, ResponseBody, VersionDetail, WorkflowDetail } from '@millrace/admin-api';
import type { Flow } from '@millrace/engine';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { createStore, type StoreApi } from 'zustand';
import { isSame, type LocalCopy } from './local-copy.ts';

/**
 * While the service is unreachable, every change is sent. When too many pile up, those in the middle are dropped: they
 * are the least likely to have arrived.
 */
const MAX_FLOWS = 40;

/** Flows sent without a response: the service may have stored any of them, under an unknown revision. */
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

  /** The service has responded, so its state is known again. */
  clear(): void {
    this.#flows.length = 0;
  }
}

type Kept = ResponseBody<'PUT /orgs/:org/workflows/:id/draft'>;

/** The service calls that `DraftSync` needs. */
export interface DraftSyncApi {
  keep(draft: {
    readonly flow: Flow;
    readonly baseVersion: number;
    readonly revision: number;
    /** The page is being unloaded. */
    readonly isLast: boolean;
  }): Promise<Kept>;
  save(version: {
    readonly flow: Flow;
    readonly baseVersion: number;
    /** Revision of the draft this replaces. */
    readonly revision: number;
    readonly message: string;
  }): Promise<WorkflowDetail>;
}

/** Someone else, or the user in another window, saved first. */
export type Conflict =
  | { readonly kind: 'draft'; readonly draft: Draft | null }
  | { readonly kind: 'version'; readonly version: VersionDetail; readonly message: string };

export interface DraftSyncState {
  /** `same`: equal to the saved version; `kept`: the service has the draft; `changed` and `failed`: it lacks some changes. */
  readonly status: 'same' | 'kept' | 'changed' | 'failed';
  readonly isSaving: boolean;
  /** When the service last stored the draft. */
  readonly keptAt: string | null;
  /** The version the changes are based on. */
  readonly baseVersion: number;
  /** The draft's revision; 0: there is no draft. */
  readonly revision: number;
  /** A draft is in flight. */
  readonly isUnderWay: boolean;
  /** Why the service rejected the draft, while the status is `failed`; null: it is unreachable. */
  readonly refusal: ApiProblem | null;
  /** While the status is `failed`: the user postponed resolving a conflict with another draft. */
  readonly isUndecided: boolean;
  /** While the status is `failed`: a copy is stored in the browser and survives closing the page. */
  readonly isInBrowser: boolean;
  readonly conflict: Conflict | null;
  /** Why the flow can't be saved as it is. */
  readonly structureErrors: Kept['structure_errors'];
}

const DELAY_MS = 800;
const RETRY_MS = 5_000;

export interface DraftSyncOptions {
  readonly api: DraftSyncApi;
  readonly flow: () => Flow;
  /** Number of changes of the flow. */
  readonly changeCount: () => number;
  readonly initial: Pick<
    DraftSyncState,
    'status' | 'keptAt' | 'baseVersion' | 'revision' | 'structureErrors'
  >;
  /** The canvas shows a copy left in this browser, and the service has since moved on. */
  readonly initialConflict?: Conflict;
  /** The service's findings for the draft. */
  readonly onChecked: (kept: Kept) => void;
  readonly onSaved: (workflow: WorkflowDetail) => void;
  /** The service has all changes. */
  readonly onSettled: () => void;
  /** The page may be unloaded before the service has this. @returns whether it is safe in the browser */
  readonly onLeft: (left: LocalCopy) => boolean;
  /** The service doesn't have this, and why. Not called for conflicts. @returns whether it is safe in the browser */
  readonly onFailed: (left: LocalCopy, refusal: ApiProblem | null) => boolean;
}

/**
 * Ensures that no change is lost: saves the draft a moment after each change, one call at a time, and retries while the
 * service is unreachable.
 */
export class DraftSync {
  readonly state: StoreApi<DraftSyncState>;
  readonly #options: DraftSyncOptions;
  #isDirty = false;
  #isStopped = false;
  /** The draft in flight. */
  #sent: Flow | null = null;
  readonly #unanswered = new Unanswered();
  /** Saves that may have created a version and thereby deleted the draft. */
  readonly #unansweredSaves = new Unanswered();
  /** The change count at which the canvas equalled the service's state. */
  #adoptedAt: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Serializes calls: each needs the revision returned by the previous one. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: DraftSyncOptions) {
    this.#options = options;
    this.#adoptedAt = options.changeCount();
    this.state = createStore<DraftSyncState>()(() => ({
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

  /** Called when the flow has changed. */
  changed(): void {
    if (this.#options.changeCount() === this.#adoptedAt) return;
    this.#isDirty = true;
    if (this.state.getState().status !== 'failed') this.state.setState({ status: 'changed' });
    this.#schedule(DELAY_MS);
  }

  /** Saves pending changes immediately. @param isLast the page is being unloaded */
  keepNow(isLast = false): Promise<unknown> {
    clearTimeout(this.#timer);
    // The call in flight may never get a response; the next visit restores the local copy.
    if (isLast && this.state.getState().isUnderWay) return Promise.resolve();
    return this.#enqueue(() => this.#keep(isLast));
  }

  /** The page is hidden or unloaded. @param isLast it is being unloaded */
  leave(isLast: boolean): void {
    if (!this.hasUnsaved) return;
    this.putAside();
    void this.keepNow(isLast);
  }

  /** Stores unconfirmed changes in the browser. @returns false if they would be lost on unload */
  putAside(): boolean {
    return !this.hasUnsaved || this.#options.onLeft(this.left);
  }

  /** Whether there are changes that the service hasn't confirmed. */
  get hasUnsaved(): boolean {
    return this.#isDirty || this.state.getState().isUnderWay;
  }

  /** What would be lost if the page were unloaded now. */
  get left(): LocalCopy {
    const { baseVersion, revision } = this.state.getState();
    return { flow: this.#options.flow(), baseVersion, revision, sent: this.#sent ?? this.#unanswered.first };
  }

  /** Saves the canvas as a version. @returns whether one was created */
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

  /** Keeps the current flow and overrides the other one. */
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

  /** The canvas now merges both flows: saves it as a draft based on both. */
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

  /** Postpones the decision and leaves the canvas as it is. */
  postpone(): void {
    const { conflict } = this.state.getState();
    this.state.setState({ conflict: null });
    // A version conflict recurs on saving; a draft conflict on the next change.
    if (conflict?.kind === 'draft') {
      this.state.setState({
        status: 'failed',
        refusal: null,
        isUndecided: true,
        isInBrowser: this.putAside(),
      });
    }
  }

  /** The canvas now shows the service's state: a saved version, or a draft. */
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

  /** Mounted: saves changes. */
  start(): void {
    this.#isStopped = false;
    if (this.#isDirty) this.#schedule(DELAY_MS);
  }

  /** Unmounted: calls in flight finish, but no new ones start. */
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
        // Saved earlier, but the response was lost: the canvas is based on that version, and saving the same flow
        // creates none.
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
        // Saved earlier, but the response was lost: there is no conflict.
        this.adopt({ version: draft.base_version, draft });
        this.#options.onChecked(draft);
        return;
      }
      const isSaved = draft === null && this.#unansweredSaves.first !== null;
      if (isSaved || (draft !== null && this.#isMine(draft.flow_data))) {
        // The same draft, edited further here since.
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

  /** Whether the service's flow was sent from here. */
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

/** Whether the service may have processed the request although no response arrived. */
function isUnanswered(error: unknown): boolean {
  return !(error instanceof ApiProblem) || error.status >= 500;
}
