// Stands in for `d3-transition` in the page's build: React Flow animates its view only, and d3 would bring all it knows of attributes, styles and colours.
import { type Selection, selection } from 'd3-selection';

type Listener = (this: Element, datum: unknown, index: number, group: readonly Element[]) => void;
type Step = (t: number) => void;
type StepMaker = (this: Element, datum: unknown, index: number, group: readonly Element[]) => Step;

const running = new WeakMap<Element, Transition>();
/** Start with the next frame. */
const waiting = new WeakMap<Element, Transition>();

/** One animation of one element. */
class Transition {
  readonly #nodes: Selection<Element, unknown, null, undefined>;
  readonly #listeners: { readonly type: string; readonly listener: Listener }[] = [];
  readonly #makers: StepMaker[] = [];
  #durationMs = 250;
  #ease = (t: number) => t;
  #frame: number;
  #hasStarted = false;

  constructor(nodes: Selection<Element, unknown, null, undefined>) {
    this.#nodes = nodes;
    waiting.get(this.#node())?.stop();
    waiting.set(this.#node(), this);
    // What it does is said after it was made.
    this.#frame = requestAnimationFrame((now) => this.#start(now));
  }

  selection() {
    return this.#nodes;
  }

  duration(ms: number): this {
    this.#durationMs = ms;
    return this;
  }

  ease(ease: (t: number) => number): this {
    this.#ease = ease;
    return this;
  }

  /** @param types as `start.zoom interrupt.zoom`; the part after the point is a name of the listener */
  on(types: string, listener: Listener): this {
    for (const type of types.split(' ')) this.#listeners.push({ type: type.replace(/\..*/, ''), listener });
    return this;
  }

  tween(_name: string, maker: StepMaker): this {
    this.#makers.push(maker);
    return this;
  }

  /** Ends it where it is. */
  stop(): void {
    cancelAnimationFrame(this.#frame);
    (this.#hasStarted ? running : waiting).delete(this.#node());
    this.#tell(this.#hasStarted ? 'interrupt' : 'cancel');
  }

  #node(): Element {
    return this.#nodes.node() as Element;
  }

  #tell(type: string): void {
    const node = this.#node();
    for (const each of this.#listeners)
      if (each.type === type) each.listener.call(node, undefined, 0, [node]);
  }

  #start(startedAt: number): void {
    const node = this.#node();
    waiting.delete(node);
    running.get(node)?.stop();
    running.set(node, this);
    this.#hasStarted = true;
    this.#tell('start');
    const steps = this.#makers.map((maker) => maker.call(node, undefined, 0, [node]));
    const show = (now: number) => {
      const part = Math.min(1, (now - startedAt) / this.#durationMs);
      for (const step of steps) step(part === 1 ? 1 : this.#ease(part));
      // A step may have begun something else.
      if (running.get(node) !== this) return;
      if (part < 1) {
        this.#frame = requestAnimationFrame(show);
        return;
      }
      running.delete(node);
      this.#tell('end');
    };
    this.#frame = requestAnimationFrame(show);
  }
}

/** Ends what is animated of an element, where it is, and what is about to be. */
export function interrupt(node: Element): void {
  running.get(node)?.stop();
  waiting.get(node)?.stop();
}

Object.assign(selection.prototype, {
  interrupt(this: Selection<Element, unknown, null, undefined>) {
    return this.each(function end() {
      interrupt(this);
    });
  },
  transition(this: Selection<Element, unknown, null, undefined>) {
    return new Transition(this);
  },
});
