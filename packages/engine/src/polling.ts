import type { JsonObject, JsonValue } from './json.ts';
import type { NodeContext } from './node.ts';
import type { Failure } from './node-result.ts';

/** Something a polling trigger found; it starts one execution. */
export interface PolledItem {
  /** Tells it apart from everything else this trigger finds, however often it is found again. */
  readonly id: string;
  /** `trigger.data` of its execution. */
  readonly data: JsonValue;
}

/** What a poll has found, or why it couldn't. */
export type PollResult =
  | {
      readonly kind: 'polled';
      /** In the order in which their executions start. */
      readonly items: readonly PolledItem[];
      /** Where the next poll continues. Stored together with the starts, once every item has been started. */
      readonly position: JsonValue;
    }
  | Failure;

/** What a poll has access to. There is no execution yet, so nothing that belongs to one. */
export interface PollContext<Config = JsonObject>
  extends Pick<NodeContext, 'credentials' | 'documents' | 'files' | 'http' | 'inTurns' | 'signal' | 'now'> {
  /** The trigger's config; it can't contain templates. */
  readonly config: Config;
  /** As the last poll left it; null for the first one. */
  readonly position: JsonValue;
  /** Whether nothing was polled since the workflow became active or its trigger was changed. */
  readonly isFirst: boolean;
  /** In test mode, nothing is changed where the items come from. */
  readonly isTestMode: boolean;
}

/** How a trigger asks for items at an interval. */
export interface PollingDefinition<Config = JsonObject> {
  /** Lists what there is. Only reads: it is repeated after a crash. */
  poll(context: PollContext<Config>): Promise<PollResult>;
  /**
   * Tells the source that items were started. Called after the start is stored, and again after a crash.
   * @returns a failure to try again later; null when done
   */
  acknowledge?(context: PollContext<Config>, ids: readonly string[]): Promise<Failure | null>;
}
