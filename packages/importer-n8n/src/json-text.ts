import { isJsonArray, isJsonObject, type JsonValue, tryParseJson } from '@millrace/engine';
import { jsonSource, splitSegments } from '@millrace/importer-expressions/expressions';
import { jsonDepth } from '@millrace/importer-kit/json-depth';
import { endsInString } from '@millrace/importer-kit/json-text';
import { asText } from './read.ts';
import type { Step } from './step.ts';

/** Doesn't occur in texts that people write. */
const MARK = '\u241f';

/**
 * A parameter that contains JSON as text, with expressions anywhere in it, as a value with templates. Expressions outside of quotes keep
 * their type, and those inside become text, so that a quote in the data can't break the JSON.
 * @returns undefined if it isn't JSON
 */
export function jsonParam(step: Step, value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'string') return value === undefined ? undefined : step.value(value);
  if (!value.startsWith('=')) {
    const parsed = parseFlat(value);
    return parsed === undefined ? undefined : step.value(parsed);
  }
  const segments = splitSegments(value.slice(1).trim());
  if (segments === null) return undefined;
  const [only] = segments;
  if (segments.length === 1 && only !== undefined && 'code' in only)
    return step.expression(jsonSource(only.code));
  const codes: string[] = [];
  let text = '';
  let isInString = false;
  for (const segment of segments) {
    if ('text' in segment) {
      text += segment.text;
      isInString = endsInString(segment.text, isInString);
      continue;
    }
    const mark = `${MARK}${codes.push(isInString ? segment.code : jsonSource(segment.code)) - 1}${MARK}`;
    text += isInString ? mark : `"${MARK}${mark}"`;
  }
  const parsed = parseFlat(text);
  return parsed === undefined ? undefined : fill(step, parsed, codes);
}

/** Deeper JSON stays text: a workflow may be nested only so deep. */
const MAX_DEPTH = 40;

function parseFlat(text: string): JsonValue | undefined {
  const parsed = tryParseJson(text);
  return parsed === undefined || jsonDepth(parsed) > MAX_DEPTH ? undefined : parsed;
}

function fill(step: Step, value: JsonValue, codes: readonly string[]): JsonValue {
  if (typeof value === 'string') return fillText(step, value, codes);
  if (isJsonArray(value)) return value.map((item) => fill(step, item, codes));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name.replaceAll(new RegExp(`${MARK}+\\d+${MARK}`, 'g'), '?'),
      fill(step, item ?? null, codes),
    ]),
  );
}

function fillText(step: Step, text: string, codes: readonly string[]): JsonValue {
  const whole = new RegExp(`^${MARK}${MARK}(\\d+)${MARK}$`).exec(text);
  if (whole !== null) return step.expression(codes[Number(whole[1])] ?? '');
  return text
    .split(new RegExp(`${MARK}(\\d+)${MARK}`))
    .map((part, index) =>
      index % 2 === 0
        ? asText(step.value(part.startsWith('=') ? `=${part}` : part))
        : asText(step.expression(codes[Number(part)] ?? '')),
    )
    .join('');
}
