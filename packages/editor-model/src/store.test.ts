import type { Flow, JsonValue } from '@millrace/engine';
import { findProblems, validateStructure } from '@millrace/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { placeNextTo } from './change-nodes.ts';
import { cutOut, readClip, writeClip } from './clip.ts';
import { findConnectionFault } from './connection-rules.ts';
import type { EditorState, NodeType } from './editor-state.ts';
import { edgeKeyOf, noteKeyOf, takeApart } from './flow-value.ts';
import { createEditorStore } from './store.ts';
import { nodeType } from './testing.ts';

const type = (name: string, kind: NodeType['kind'], handles: string[]): [string, NodeType] => [
  name,
  nodeType(name, { kind, handles }),
];
const TYPES = new Map([
  type('trigger.manual', 'trigger', ['out']),
  type('core.set', 'pure', ['out']),
  type('core.if', 'pure', ['true', 'false']),
  type('core.stop', 'pure', []),
  type('core.for_each', 'loop', ['out']),
]);

const FLOW: Flow = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } },
    { id: 'each', type: 'core.for_each', position: { x: 300, y: 0 } },
    { id: 'inner', type: 'core.set', parentId: 'each', position: { x: 20, y: 50 } },
    { id: 'last', type: 'core.set', parentId: 'each', position: { x: 240, y: 50 } },
    { id: 'end', type: 'core.set', position: { x: 900, y: 0 } },
  ],
  edges: [
    { id: 'a', source: 'start', target: 'each' },
    { source: 'inner', target: 'last' },
    { id: 'c', source: 'each', target: 'end' },
  ],
};

function clipOf(text: string) {
  const read = readClip(text);
  return 'clip' in read ? read.clip : null;
}

function open(flow: Flow = FLOW) {
  let nowMs = 0;
  const store = createEditorStore({ flow, nodeTypes: TYPES, now: () => nowMs });
  return { store, state: () => store.getState(), pass: (ms: number) => (nowMs += ms) };
}

/** A user action; numbers choose among what exists at that moment. */
type Act = (state: EditorState, pick: <Item>(items: readonly Item[]) => Item | undefined) => void;

const ACTS: readonly Act[] = [
  (state, pick) => state.addNode(pick([...TYPES.keys()]) ?? 'core.set'),
  (state, pick) =>
    state.addNode(pick([...TYPES.keys()]) ?? '', { after: pick(state.nodes)?.id ?? '', handle: 'out' }),
  (state, pick) => {
    const edge = pick(state.edges);
    if (edge !== undefined) {
      const onEdge = edgeKeyOf(edge, state.edges.indexOf(edge));
      state.addNode(pick(['core.set', 'core.if', 'core.for_each', 'core.stop']) ?? '', { onEdge });
    }
  },
  (state, pick) => state.remove([pick(state.nodes)?.id ?? '', pick(state.nodes)?.id ?? '']),
  (state, pick) => {
    const edge = pick(state.edges);
    if (edge !== undefined) state.remove([edgeKeyOf(edge, state.edges.indexOf(edge))]);
  },
  (state, pick) => {
    const connection = { source: pick(state.nodes)?.id ?? '', target: pick(state.nodes)?.id ?? '' };
    if (findConnectionFault(state, connection) === null) state.connect(connection);
  },
  (state, pick) =>
    state.moveInto(
      [pick(state.nodes)?.id ?? ''],
      pick([null, ...state.nodes.filter((each) => each.type === 'core.for_each').map(({ id }) => id)]) ??
        null,
    ),
  (state, pick) => state.move({ [pick(state.nodes)?.id ?? '']: { x: 1, y: 2 } }),
  (state, pick) =>
    state.changeNode(pick(state.nodes)?.id ?? '', 'label', (node) => ({
      ...node,
      data: { ...node.data, label: `label ${state.changeCount}` },
    })),
  (state) => state.changeSettings((settings) => ({ ...settings, timeout_s: state.changeCount + 1 })),
  (state, pick) => {
    const ids = state.nodes.filter(() => pick([true, false])).map(({ id }) => id);
    state.paste(cutOut(takeApart(state.toFlow()), ids, {}));
  },
  (state) => state.addNote({ x: 5, y: 5 }),
  (state) => state.undo(),
  (state) => state.redo(),
];

const acts = fc.array(fc.tuple(fc.nat(ACTS.length - 1), fc.array(fc.nat(), { minLength: 12 })), {
  maxLength: 30,
});

function perform(state: () => EditorState, chosen: readonly (readonly [number, readonly number[]])[]) {
  for (const [act, numbers] of chosen) {
    let at = 0;
    ACTS[act]?.(state(), (items) => items[(numbers[at++ % numbers.length] ?? 0) % items.length]);
  }
}

describe('the editor store', () => {
  test('undoing any sequence of changes restores the flow, redoing it restores the result', () => {
    fc.assert(
      fc.property(acts, (chosen) => {
        const { state } = open();
        perform(state, chosen);
        while (state().canRedo) state().redo();
        const after = state().toFlow();
        while (state().canUndo) state().undo();
        expect(state().toFlow()).toEqual(FLOW);
        while (state().canRedo) state().redo();
        expect(state().toFlow()).toEqual(after);
      }),
    );
  });

  test('whatever is done, the structure remains savable, and no edge crosses a loop', () => {
    fc.assert(
      fc.property(acts, (chosen) => {
        const { state } = open();
        perform(state, chosen);
        const flow = state().toFlow();
        expect(validateStructure(flow, { maxNodes: 10_000 })).toEqual([]);
        const across = findProblems(flow, () => undefined).filter(({ code }) => code === 'edge_across_loop');
        expect(across).toEqual([]);
      }),
    );
  });

  test('another trigger takes the place of one: name, id and connections stay, its settings go', () => {
    const trigger = { id: 'start', type: 'trigger.manual', data: { label: 'Begin', config: { a: 1 } } };
    const types = new Map([...TYPES, type('trigger.webhook', 'trigger', ['out'])]);
    const store = createEditorStore({
      flow: {
        nodes: [trigger, { id: 'set', type: 'core.set' }],
        edges: [{ source: 'start', target: 'set' }],
      },
      nodeTypes: types,
    });
    const before = store.getState().toFlow();
    store.getState().replaceTrigger('start', 'trigger.webhook');
    const { nodes, edges } = store.getState().toFlow();
    expect(nodes[0]).toEqual({ id: 'start', type: 'trigger.webhook', data: { label: 'Begin', config: {} } });
    expect(edges).toEqual(before.edges);
    store.getState().undo();
    expect(store.getState().toFlow()).toEqual(before);
    // Neither a node becomes a trigger, nor a trigger a node.
    store.getState().replaceTrigger('set', 'trigger.webhook');
    store.getState().replaceTrigger('start', 'core.set');
    expect(store.getState().toFlow()).toEqual(before);
  });

  test('unchanged parts are as read: unknown members stay', () => {
    const json = fc.jsonValue().filter((value) => value !== undefined) as fc.Arbitrary<JsonValue>;
    const more = fc.dictionary(fc.constantFrom('style', 'measured', 'zIndex', 'note'), json);
    const flows = fc.record({ node: more, data: more, edge: more, settings: fc.option(more), flow: more });
    fc.assert(
      fc.property(flows, ({ node, data, edge, settings, flow: top }) => {
        const flow = {
          ...top,
          nodes: [
            { ...node, id: 'a', type: 'core.set', data: { ...data } },
            { id: 'b', type: 'x.y' },
          ],
          edges: [{ ...edge, source: 'a', target: 'b' }],
          ...(settings === null ? {} : { settings }),
        };
        const { state } = open(flow);
        expect(state().toFlow()).toStrictEqual(flow);
        const added = state().addNode('core.set');
        state().move({ a: { x: 7, y: 7 } });
        state().remove([added]);
        const [first] = state().toFlow().nodes;
        expect({ ...first, position: null }).toStrictEqual({ ...flow.nodes[0], position: null });
        expect({ ...state().toFlow(), nodes: [] }).toStrictEqual({ ...flow, nodes: [] });
      }),
    );
  });

  test('a loop is removed with its body and all their edges', () => {
    const { state } = open();
    state().remove(['each']);
    expect(state().nodes.map(({ id }) => id)).toEqual(['start', 'end']);
    expect(state().edges).toEqual([]);
    state().undo();
    expect(state().toFlow()).toEqual(FLOW);
  });

  test('the next node goes into an empty loop, and after anything else', () => {
    const { store, state } = open({ nodes: FLOW.nodes.slice(0, 2), edges: FLOW.edges.slice(0, 1) });
    const add = (selected: string) =>
      store.getState().addNode('core.set', placeNextTo(state().nodes, selected));
    const [inner, next, after] = [add('each'), add('set'), add('each')];
    const parentOf = (id: string) => state().nodes.find((node) => node.id === id)?.parentId;
    expect([inner, next, after].map(parentOf)).toEqual(['each', 'each', undefined]);
    expect(state().edges.map(({ source, target }) => [source, target])).toEqual([
      ['start', 'each'],
      [inner, next],
      ['each', after],
    ]);
  });

  test('an edge without an id can be removed, and a node inserted on it', () => {
    const { state } = open();
    const id = state().addNode('core.if', { onEdge: 'edge:#1' });
    expect(state().nodes.at(-1)).toMatchObject({ id, parentId: 'each' });
    expect(state().edges.map(({ source, target, sourceHandle }) => [source, target, sourceHandle])).toEqual([
      ['start', 'each', undefined],
      ['inner', 'if', undefined],
      ['if', 'last', 'true'],
      ['each', 'end', undefined],
    ]);
    expect(state().nodes.find((node) => node.id === 'last')?.position?.x).toBeGreaterThan(240);
    state().remove(['edge:#1']);
    expect(state().edges).toHaveLength(3);
  });

  test('pasted nodes get new ids, and keep their edges, loops and references to each other', () => {
    const { state } = open({
      ...FLOW,
      nodes: FLOW.nodes.map((node) =>
        node.id === 'last'
          ? {
              ...node,
              data: { config: { a: '{{nodes.inner.output.x}}', b: 'nodes.inner', c: '{{nodes.start}}' } },
            }
          : node,
      ),
    });
    const clip = cutOut(takeApart(state().toFlow()), ['each'], {});
    const pasted = clipOf(writeClip(clip));
    const ids = state().paste(pasted ?? { nodes: [], edges: [] }, { x: 50, y: 500 });
    expect(ids).toEqual(['each_2']);
    const added = state().nodes.slice(5);
    expect(added.map(({ id, parentId }) => [id, parentId ?? null])).toEqual([
      ['each_2', null],
      ['inner_2', 'each_2'],
      ['last_2', 'each_2'],
    ]);
    expect(added[0]?.position).toEqual({ x: 50, y: 500 });
    expect(added[2]?.data?.config).toEqual({
      a: '{{nodes.inner_2.output.x}}',
      b: 'nodes.inner',
      c: '{{nodes.start}}',
    });
    expect(state().edges.at(-1)).toMatchObject({ source: 'inner_2', target: 'last_2' });
    expect(state().selectedIds).toEqual(['each_2']);
  });

  test("an exported workflow can be pasted, other text can't", () => {
    expect(clipOf(JSON.stringify({ name: 'x', flow_data: FLOW }))?.nodes).toHaveLength(5);
    expect(clipOf(JSON.stringify(FLOW))?.edges).toHaveLength(3);
    for (const text of ['', 'hello', '1', 'null', '[]', '{}', '{"nodes":1}', '{"nodes":[{"id":1}]}']) {
      expect(clipOf(text)).toBeNull();
    }
  });

  test('quick changes of one field are one step', () => {
    const { state, pass } = open();
    const write = (label: string) =>
      state().changeNode('end', 'label', (node) => ({ ...node, data: { ...node.data, label } }));
    write('a');
    pass(500);
    write('ab');
    pass(1_500);
    write('abc');
    state().undo();
    expect(state().nodes.at(-1)?.data?.label).toBe('ab');
    state().undo();
    expect(state().toFlow()).toEqual(FLOW);
    expect(state().canUndo).toBe(false);
  });

  test('a node that leaves its loop stays where it is shown; crossing edges are removed', () => {
    const { state } = open();
    expect(state().moveInto(['last'], null)).toBe(1);
    expect(state().nodes.find(({ id }) => id === 'last')).toMatchObject({ position: { x: 540, y: 50 } });
    expect(state().nodes.find(({ id }) => id === 'last')).not.toHaveProperty('parentId');
    expect(state().moveInto(['last'], 'each')).toBe(0);
    expect(state().nodes.find(({ id }) => id === 'last')).toMatchObject({ position: { x: 240, y: 50 } });
    expect(state().moveInto(['start', 'each'], 'each')).toBe(0);
    expect(state().nodes.find(({ id }) => id === 'start')).not.toHaveProperty('parentId');
  });

  test('nothing changes in a read-only view', () => {
    const store = createEditorStore({ flow: FLOW, nodeTypes: TYPES, isReadOnly: true });
    const state = store.getState();
    perform(
      store.getState,
      [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11].map((act) => [act, [1]]),
    );
    state.replaceFlow({ nodes: [], edges: [] });
    state.resize('each', { width: 1, height: 1 }, { x: 1, y: 1 });
    expect(store.getState().toFlow()).toEqual(FLOW);
    expect(store.getState().changeCount).toBe(0);
  });

  test('the selection only contains existing elements', () => {
    const { state } = open();
    state().addNote({ x: 1.4, y: 2 });
    const [note] = state().settings.notes ?? [];
    expect(note?.position).toEqual({ x: 1, y: 2 });
    expect(state().selectedIds).toEqual([noteKeyOf(note as never)]);
    state().select(['inner', 'edge:a']);
    state().remove(['each']);
    expect(state().selectedIds).toEqual([]);
  });
});

describe('fixed bugs', () => {
  test('edges between nodes with long ids have distinct ids', () => {
    const [source, target] = ['s'.repeat(255), 't'.repeat(255)];
    const { state } = open({
      nodes: [
        { id: source, type: 'core.if' },
        { id: target, type: 'core.set' },
      ],
      edges: [],
    });
    state().connect({ source, target, sourceHandle: 'true' });
    state().connect({ source, target, sourceHandle: 'false' });
    const flow = state().toFlow();
    expect(validateStructure(flow, { maxNodes: 10 })).toEqual([]);
  });

  test('when an edge without an id is removed, its replacement is not selected', () => {
    const { state } = open({
      ...FLOW,
      edges: FLOW.edges.map(({ source, target }) => ({ source, target })),
    });
    state().select(['edge:#0']);
    state().remove(['edge:#0']);
    expect(state().selectedIds).toEqual([]);
    state().undo();
    state().select(['edge:#1', 'edge:#0']);
    state().move({ end: { x: 5, y: 5 } });
    expect(state().selectedIds).toEqual(['edge:#1', 'edge:#0']);
  });

  test('an edge is not duplicated, and trying to adds no undo step', () => {
    const { state } = open();
    state().select(['edge:a']);
    state().duplicate(['edge:a']);
    expect(state().selectedIds).toEqual(['edge:a']);
    expect(state().canUndo).toBe(false);
    expect(state().changeCount).toBe(0);
  });

  test("pasting twice at one place doesn't overlap", () => {
    const { state } = open();
    const clip = cutOut(takeApart(state().toFlow()), ['end'], {});
    for (const at of [undefined, undefined, { x: 5, y: 5 }, { x: 5, y: 5 }]) state().paste(clip, at);
    const places = state().nodes.map(({ position, parentId }) => JSON.stringify([position, parentId]));
    expect(new Set(places).size).toBe(places.length);
  });
});

describe('findConnectionFault', () => {
  const fault = (source: string, target: string, sourceHandle?: string) =>
    findConnectionFault(open().state(), {
      source,
      target,
      ...(sourceHandle === undefined ? {} : { sourceHandle }),
    });

  test("says why two nodes can't be connected", () => {
    expect(fault('start', 'end')).toBeNull();
    expect(fault('start', 'start')).toBe('self');
    expect(fault('end', 'start')).toBe('intoTrigger');
    expect(fault('end', 'each')).toBe('cycle');
    expect(fault('start', 'inner')).toBe('across');
    expect(fault('last', 'end')).toBe('across');
    expect(fault('start', 'each')).toBe('twice');
    expect(fault('start', 'each', 'error')).toBeNull();
    expect(fault('start', 'nowhere')).toBe('missing');
  });
});
