import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import type { RouteEdge } from '@millrace/editor-model/edge-routing.ts';
import type { Point } from '@millrace/editor-model/editor-state.ts';
import { drawCurve, endsOf, stateOf } from '@millrace/editor-model/far-edges.ts';
import { drawFarNode } from '@millrace/editor-model/far-nodes.ts';
import type { FlowApi } from './held-viewport.ts';

/** Each is a layer of its own. */
const MOST = 8;
const SVG = 'http://www.w3.org/2000/svg';

/** What a drag is begun with. */
export interface BeforeLift {
  readonly flow: FlowApi;
  readonly nodes: readonly CanvasNode[];
  readonly edges: readonly CanvasEdge[];
  readonly routing: RouteEdge | null;
}

/** Nodes that are being dragged above the others. */
export interface Lift {
  readonly ids: ReadonlySet<string>;
  /** Moves nodes to these positions in their loops. */
  move(positions: ReadonlyMap<string, Point>): void;
  /** Leaves the nodes to React Flow again, which has them at their new places by then. */
  drop(): void;
}

interface LiftedNode {
  readonly element: HTMLElement;
  readonly zIndex: string;
  /** Its boxes, which are seen from far away. */
  readonly boxes: SVGElement;
  readonly start: Point;
}

interface LiftedEdge {
  readonly edge: CanvasEdge;
  readonly path: SVGPathElement;
  /** What is hidden meanwhile; null as long as it isn't in the page. */
  drawn: SVGElement | null;
}

/**
 * Lifts nodes of a large flow out of the picture for a drag: each step then moves their elements, draws their edges, and neither touches nor paints
 * anything else. React and React Flow look at every node for a step.
 * @returns null if it isn't worth it, or nodes are dragged that others move with
 */
export function liftNodes(before: BeforeLift, ids: readonly string[]): Lift | null {
  const { domNode, nodeLookup, nodesSelectionActive } = before.flow.getState();
  const view = domNode?.querySelector('.react-flow__viewport');
  // The frame around a selection moves with it.
  if (view == null || ids.length > MOST || nodesSelectionActive) return null;
  const places = new Map(before.nodes.map((node) => [node.id, node]));
  const picture = makeElement('svg', 'flow-lifted');
  picture.setAttribute('aria-hidden', 'true');
  const lifted = new Map<string, LiftedNode>();
  for (const id of ids) {
    const [node, element] = [places.get(id), view.querySelector(selectorOf('node', id))];
    const start = nodeLookup.get(id)?.internals.positionAbsolute;
    if (node === undefined || node.type === 'loop' || !(element instanceof HTMLElement)) return null;
    if (start === undefined) return null;
    lifted.set(id, { element, zIndex: element.style.zIndex, boxes: drawBoxes(node), start });
  }
  const edges = before.edges
    .filter(({ source, target }) => lifted.has(source) || lifted.has(target))
    .map((edge): LiftedEdge => {
      const group = makeElement(
        'g',
        `flow-edge ${stateOf(edge)} ${edge.selected === true ? 'is-selected' : ''}`,
      );
      const path = makeElement('path', 'react-flow__edge-path');
      group.append(path);
      picture.append(group);
      return { edge, path, drawn: null };
    });
  for (const { element, boxes } of lifted.values()) {
    element.style.zIndex = '1001';
    element.style.willChange = 'transform';
    picture.append(boxes);
  }
  view.append(picture);

  const drawEdge = (each: LiftedEdge): void => {
    const { edge, path } = each;
    if (each.drawn?.isConnected !== true) each.drawn = view.querySelector(selectorOf('edge', edge.id));
    // Where nothing is hidden, the flow is drawn as it is from far away: without ways around nodes.
    each.drawn?.style.setProperty('visibility', 'hidden');
    const ends = endsOf(places, edge);
    if (ends === null) return;
    const loop = edge.data?.loop ?? '';
    const origin = nodeLookup.get(loop)?.internals.positionAbsolute ?? { x: 0, y: 0 };
    const route = each.drawn === null ? null : before.routing?.(loop, origin, ends.from, ends.to);
    path.setAttribute('d', route?.path ?? drawCurve(ends));
  };
  return {
    ids: new Set(ids),
    move(positions) {
      for (const [id, position] of positions) {
        const [node, place, known] = [lifted.get(id), places.get(id), nodeLookup.get(id)];
        if (node === undefined || place === undefined || known === undefined) continue;
        places.set(id, { ...place, position });
        const around = nodeLookup.get(place.parentId ?? '')?.internals.positionAbsolute ?? { x: 0, y: 0 };
        const at = { x: around.x + position.x, y: around.y + position.y };
        // React Flow and the canvas's actions ask where nodes are. Nobody is told: the next change of the node replaces this.
        known.internals.positionAbsolute = at;
        node.element.style.transform = `translate(${at.x - node.start.x}px, ${at.y - node.start.y}px)`;
        node.boxes.setAttribute('transform', `translate(${at.x} ${at.y})`);
      }
      for (const edge of edges) drawEdge(edge);
    },
    drop() {
      for (const { element, zIndex } of lifted.values()) {
        element.style.zIndex = zIndex;
        element.style.willChange = '';
        element.style.transform = 'none';
      }
      for (const { drawn } of edges) drawn?.style.removeProperty('visibility');
      picture.remove();
    },
  };
}

function drawBoxes(node: CanvasNode): SVGElement {
  const group = makeElement('g', 'flow-lifted-node');
  if (node.type !== 'step') return group;
  for (const { className, path } of drawFarNode(node)) {
    const box = makeElement('path', className);
    box.setAttribute('d', path);
    group.append(box);
  }
  return group;
}

function makeElement<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  className: string,
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS(SVG, name);
  element.setAttribute('class', className);
  return element;
}

function selectorOf(kind: 'node' | 'edge', id: string): string {
  return `.react-flow__${kind}[data-id="${CSS.escape(id)}"]`;
}
