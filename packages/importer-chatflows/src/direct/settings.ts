import type { FlowSettings, JsonValue } from '@millrace/engine';
import type { Maker } from './maker.ts';

const STRETCH = 1.3;

/** The settings of a workflow that was made node by node: its notes and constants. */
export function directSettings(maker: Maker): FlowSettings {
  const notes: JsonValue[] = maker.flow.notes
    .slice(0, MAX_NOTES)
    .map(({ text, position, width, height }, index) => ({
      id: `note_${index + 1}`,
      text: text.slice(0, MAX_TEXT),
      position: { x: Math.round(position.x), y: Math.round(position.y) },
      size: { width: Math.round(width * STRETCH), height: Math.round(height * STRETCH) },
      colour: 'yellow',
    }));
  const left = [...maker.flow.origins.values()].filter(
    ({ id, parent }) => parent === null && !maker.made.has(id),
  );
  const [first] = left;
  if (first !== undefined)
    notes.push({
      id: `note_${notes.length + 1}`,
      text: `Nothing leads to these nodes, so they weren't imported:\n${left.map(({ name }) => `- ${name}`).join('\n')}`.slice(
        0,
        MAX_TEXT,
      ),
      position: { x: Math.round(first.position.x), y: Math.round(first.position.y) },
      size: { width: 320, height: 160 },
      colour: 'grey',
    });
  return {
    ...(notes.length === 0 ? {} : { notes }),
    ...(maker.constants.size === 0 ? {} : { vars: Object.fromEntries(maker.constants) }),
  };
}

const MAX_NOTES = 200;
const MAX_TEXT = 10_000;
