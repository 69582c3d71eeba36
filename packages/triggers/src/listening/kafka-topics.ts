import {
  type ConfigFault,
  isJsonArray,
  type JsonObject,
  type JsonValue,
  searchForPattern,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';

/** Of a pattern, in instructions: each name of a cluster is compared by the main thread. */
const MAX_SIZE = 2_000;
/** Brokers know no longer name, and no other characters. */
const NAME = /^[\w.-]{1,249}$/;

/** Topics that can't be read, and patterns that can't be used. */
export function findTopicFaults({ topics }: JsonObject): readonly ConfigFault[] {
  if (!isJsonArray(topics)) return [];
  return topics.flatMap((topic, index) => {
    const fault = faultOf(topic);
    return fault === null ? [] : [{ pointer: `/topics/${index}`, message: fault }];
  });
}

function faultOf(topic: JsonValue): Message | null {
  // A template is filled in before names are compared.
  if (typeof topic !== 'string' || topic.includes('{{')) return null;
  const text = topic.trim();
  if (!text.startsWith('^'))
    return NAME.test(text) ? null : message('nodes.kafka_topic_name', { topic: text.slice(0, 100) });
  const search = searchForPattern(text);
  if ('key' in search) return message('nodes.kafka_topic_pattern', { pattern: text, fault: search });
  return search.size > MAX_SIZE
    ? message('nodes.kafka_topic_pattern', { pattern: text, fault: message('flow.pattern_too_large') })
    : null;
}
