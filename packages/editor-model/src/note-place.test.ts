import { expect, test } from 'vitest';
import { placeForNote } from './note-place.ts';
import { createEditorStore, NEW_NOTE } from './store.ts';

const VIEW = { from: { x: -400, y: -40 }, to: { x: 600, y: 560 } };

test('notes added at the same place find a free one each, beside the nodes and each other', () => {
  const nodes = [
    { id: 'start', type: 'trigger.manual', position: { x: -40, y: -20 } },
    { id: 'set', type: 'core.set', position: { x: 220, y: 60 } },
  ];
  const { getState: state } = createEditorStore({ flow: { nodes, edges: [] } });
  for (let count = 0; count < 6; count += 1) state().addNote(placeForNote(VIEW, NEW_NOTE.size, state()));
  const notes = state().settings.notes ?? [];
  const boxes = [
    ...notes.map(({ position, size }) => ({ ...position, ...size })),
    ...nodes.map(({ position }) => ({ ...position, width: 184, height: 52 })),
  ];
  const covering = boxes.flatMap((a, at) =>
    boxes
      .slice(at + 1)
      .filter(
        (b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height,
      ),
  );
  expect(notes).toHaveLength(6);
  expect(covering).toEqual([]);
  for (const { position } of notes) expect(Math.hypot(position.x, position.y)).toBeLessThan(1000);
});

test('a new note stays in view, though a place beyond it is nearer', () => {
  const wide = { id: 'start', type: 'trigger.manual', position: { x: 8, y: 30 } };
  const { getState: state } = createEditorStore({ flow: { nodes: [wide], edges: [] } });
  expect(placeForNote(VIEW, NEW_NOTE.size, state()).y).toBeGreaterThanOrEqual(VIEW.from.y);
  const small = { from: { x: 0, y: 0 }, to: { x: 50, y: 50 } };
  expect(placeForNote(small, NEW_NOTE.size, state())).not.toEqual({ x: -75, y: 0 });
});
