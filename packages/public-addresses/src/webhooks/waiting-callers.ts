import { ApiError, unavailable } from '@millrace/errors/errors';
import { message } from '@millrace/messages';

const RETRY_AFTER_S = 2;

/** Counts the callers of this process that wait for a response, so that no organisation's slow workflows take the connections of all. */
export class WaitingCallers {
  readonly #max: number;
  readonly #maxOfOne: number;
  readonly #byOrganisation = new Map<number, number>();
  #count = 0;

  /** @param limits 0: no limit */
  constructor(limits: { readonly waitingCallers: number; readonly waitingCallersPerOrganisation: number }) {
    this.#max = limits.waitingCallers || Number.POSITIVE_INFINITY;
    this.#maxOfOne = limits.waitingCallersPerOrganisation || Number.POSITIVE_INFINITY;
  }

  /**
   * Counts one more, before anything is started for it.
   * @returns a function to be called once it no longer waits
   * @throws ApiError `too_many_callers`, `overloaded`
   */
  enter(organisationId: number): () => void {
    const own = this.#byOrganisation.get(organisationId) ?? 0;
    if (own >= this.#maxOfOne) {
      throw new ApiError('too_many_callers', message('api.too_many_callers'), {
        headers: { 'retry-after': String(RETRY_AFTER_S) },
      });
    }
    if (this.#count >= this.#max) throw unavailable('overloaded', message('api.too_many_callers_in_all'));
    this.#byOrganisation.set(organisationId, own + 1);
    this.#count += 1;
    return () => this.#leave(organisationId);
  }

  #leave(organisationId: number): void {
    this.#count -= 1;
    const left = (this.#byOrganisation.get(organisationId) ?? 1) - 1;
    if (left === 0) this.#byOrganisation.delete(organisationId);
    else this.#byOrganisation.set(organisationId, left);
  }
}
