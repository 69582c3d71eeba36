/** How concurrent calls are gathered into batches. */
export interface CoalesceOptions<Item, Answer> {
  /** Does the work of a whole batch; answers stand in the order of the items. */
  readonly run: (items: readonly Item[]) => Promise<readonly Answer[]>;
  readonly maxItems: number;
  /** Bytes (or any other measure) a batch may weigh; a heavier single item makes a batch of its own. */
  readonly maxWeight?: number;
  readonly weightOf?: (item: Item) => number;
  /** Items of one key never share a batch and keep their order. */
  readonly keyOf?: (item: Item) => unknown;
  /** True: the error may be one item's fault, so each item of the batch is tried alone. The batch must have changed nothing. */
  readonly isOneItemsFault?: (error: unknown) => boolean;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes one batch out of calls that come at the same time: while one batch is under way the next one gathers, so a
 * lone call waits for nobody and a crowd shares one statement and one commit.
 */
export function coalesce<Item, Answer>(
  options: CoalesceOptions<Item, Answer>,
): (item: Item) => Promise<Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
  let isBusy = false;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const { batch, rest } = takeBatch(waiting, options);
      waiting = rest;
      await settle(batch, options);
    }
    isBusy = false;
  }

  return (item) =>
    new Promise<Answer>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isBusy) return;
      isBusy = true;
      // One turn of the event loop later, so that all sockets that are readable now are in the first batch.
      setImmediate(() => void drain());
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
