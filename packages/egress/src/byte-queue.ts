/** Bytes as they arrive on a connection, until whoever reads them has enough. Pieces are joined only where one isn't enough. */
export class ByteQueue {
  #pieces: Buffer[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** The next bytes, or what there is of them, without taking them. */
  peek(count: number): Buffer {
    const [first = Buffer.alloc(0)] = this.#pieces;
    if (first.length >= count || this.#pieces.length < 2) return first.subarray(0, count);
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all.subarray(0, count);
  }

  /** Takes the next bytes, or what there is of them. */
  take(count: number): Buffer {
    const taken = this.peek(count);
    const rest = this.#pieces[0]?.subarray(taken.length);
    if (rest === undefined || rest.length === 0) this.#pieces.shift();
    else this.#pieces[0] = rest;
    this.#length -= taken.length;
    return taken;
  }

  clear(): void {
    this.#pieces = [];
    this.#length = 0;
  }
}
