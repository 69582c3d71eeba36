import { setImmediate as turn } from 'node:timers/promises';
import { ServiceError, searchForPattern } from '@millrace/engine';
import { message } from '@millrace/messages';

/** Topics that the patterns of one consumer may match: their names are kept with where it reads on. */
const MAX_MATCHING = 200;
/** After so long the main thread does something else. */
const SLICE_MS = 8;

type Test = (name: string) => boolean;

/** Which topics are read: those that are named, and those whose names match a pattern. As in other clients, patterns begin with `^`. */
export class TopicChoice {
  readonly names: readonly string[];
  readonly patterns: readonly string[];
  readonly #tests: readonly Test[];
  /** Of the topics that were there before. */
  #known: ReadonlyMap<string, boolean> = new Map();

  /** @throws ServiceError kafka_pattern */
  constructor(topics: readonly string[]) {
    this.names = topics.filter((each) => !each.startsWith('^'));
    this.patterns = topics.filter((each) => each.startsWith('^'));
    this.#tests = this.patterns.map(testOf);
  }

  /**
   * Those of all topics of a cluster that match a pattern, in their order.
   * @throws ServiceError kafka_too_many_topics
   */
  async matching(all: readonly string[]): Promise<readonly string[]> {
    const known = new Map<string, boolean>();
    let since = performance.now();
    for (const name of all) {
      known.set(name, this.#known.get(name) ?? this.#tests.some((test) => test(name)));
      if (performance.now() - since < SLICE_MS) continue;
      await turn();
      since = performance.now();
    }
    this.#known = known;
    const found = all.filter((name) => known.get(name));
    if (found.length <= MAX_MATCHING) return found;
    throw new ServiceError(
      'kafka_too_many_topics',
      message('ports.kafka_too_many_topics', { topics: found.length, max: MAX_MATCHING }),
    );
  }
}

function testOf(pattern: string): Test {
  const search = searchForPattern(pattern);
  if ('key' in search)
    throw new ServiceError('kafka_pattern', message('ports.kafka_pattern', { pattern, fault: search }));
  return (name) => search.find(name, 0) !== null;
}
