/** How concurrent calls are gathered into batches. */
export interface CoalesceOptions<Item, Answer> {
  /** Processes a whole batch; the results are in the order of the items. */
  readonly run: (items: readonly Item[]) => Promise<readonly Answer[]>;
  readonly maxItems: number;
  /** Maximum weight of a batch in bytes (or any other unit); a heavier single item gets a batch to itself. */
  readonly maxWeight?: number;
  readonly weightOf?: (item: Item) => number;
  /** Items with the same key never share a batch and keep their order. */
  readonly keyOf?: (item: Item) => unknown;
  /** Batches that may be in progress at one time, 1 if absent; not with `keyOf`, whose order only one at a time keeps. */
  readonly lanes?: number;
  /**
   * So many waiting items begin a batch at once, in the middle of the turn that brings more, and always suffice for another batch beside those in progress;
   * absent: every batch begins with the next turn.
   */
  readonly eagerFrom?: number;
  /** True: one item may be to blame for the error, so each item of the batch is retried alone. The batch must have changed nothing. */
  readonly isOneItemsFault?: (error: unknown) => boolean;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** How long an item waits for others while a lane is free: what is in progress may be held up, by a lock or a slow disk. */
const MAX_WAIT_MS = 10;

/**
 * Batches concurrent calls: while one batch is in progress the next one fills up, so a lone call never waits and a burst shares one
 * statement and one commit. With several lanes, this process fills one batch while the database works on the others; with `eagerFrom`,
 * the database begins with the first items of a burst while this process still prepares the rest. Another batch begins beside those in
 * progress once it has as many items as they do: few items don't wait for each other, and many share few statements.
 */
export function coalesce<Item, Answer>(
  options: CoalesceOptions<Item, Answer>,
): (item: Item) => Promise<Answer> {
  const { lanes = 1, eagerFrom = Number.POSITIVE_INFINITY } = options;
  let waiting: Waiting<Item, Answer>[] = [];
  /** Including one that begins with the next turn. */
  let busyLanes = 0;
  /** Items of the batches in progress. */
  let inProgress = 0;
  let beginning: NodeJS.Immediate | null = null;
  /** Whether a timer will begin a batch with what is waiting then. */
  let isTimed = false;

  /** Whether what is waiting suffices for another batch. */
  const isEnough = () => waiting.length >= Math.min(eagerFrom, inProgress);

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const { batch, rest } = takeBatch(waiting, options);
      waiting = rest;
      inProgress += batch.length;
      await settle(batch, options);
      inProgress -= batch.length;
      if (!isEnough()) break;
    }
    busyLanes -= 1;
    if (waiting.length > 0) waitForMore();
  }

  function begin(): void {
    beginning = null;
    void drain();
  }

  function waitForMore(): void {
    if (isTimed) return;
    isTimed = true;
    setTimeout(() => {
      isTimed = false;
      if (waiting.length === 0 || beginning !== null || busyLanes === lanes) return;
      busyLanes += 1;
      begin();
    }, MAX_WAIT_MS);
  }

  return (item) =>
    new Promise<Answer>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (beginning === null) {
        if (busyLanes === lanes) return;
        if (!isEnough()) return waitForMore();
        busyLanes += 1;
        // Deferred by one turn of the event loop, so that all sockets that are readable now are in the first batch.
        beginning = setImmediate(begin);
      }
      if (waiting.length < eagerFrom) return;
      clearImmediate(beginning);
      begin();
    });
}

function takeBatch<Item, Answer>(
  waiting: readonly Waiting<Item, Answer>[],
  options: CoalesceOptions<Item, Answer>,
): { batch: Waiting<Item, Answer>[]; rest: Waiting<Item, Answer>[] } {
  const batch: Waiting<Item, Answer>[] = [];
  const rest: Waiting<Item, Answer>[] = [];
  const keys = new Set<unknown>();
  let weight = 0;
  for (const [index, call] of waiting.entries()) {
    const itemWeight = options.weightOf?.(call.item) ?? 0;
    const isFull =
      batch.length >= options.maxItems ||
      (batch.length > 0 && weight + itemWeight > (options.maxWeight ?? Number.POSITIVE_INFINITY));
    if (isFull) {
      rest.push(...waiting.slice(index));
      break;
    }
    const key = options.keyOf?.(call.item);
    if (key !== undefined && keys.has(key)) {
      rest.push(call);
      continue;
    }
    if (key !== undefined) keys.add(key);
    weight += itemWeight;
    batch.push(call);
  }
  return { batch, rest };
}

async function settle<Item, Answer>(
  batch: readonly Waiting<Item, Answer>[],
  options: CoalesceOptions<Item, Answer>,
): Promise<void> {
  try {
    const answers = await options.run(batch.map((call) => call.item));
    if (answers.length !== batch.length)
      throw new Error(`${batch.length} items got ${answers.length} answers`);
    for (const [index, call] of batch.entries()) call.resolve(answers[index] as Answer);
  } catch (error) {
    if (batch.length > 1 && options.isOneItemsFault?.(error)) {
      for (const call of batch) await settle([call], options);
    } else {
      for (const call of batch) call.reject(error);
    }
  }
}
