import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';

interface Kept {
  readonly packetId: number;
  readonly topic: string;
  readonly payload: Buffer;
  wasSent: boolean;
}

/** As much of a broker (MQTT 3.1.1) as a subscriber with a kept session needs. Packets have less than 128 bytes, unless they are published here. */
export class MqttBroker {
  readonly subscriptions: string[] = [];
  /** What was published and not acknowledged yet. */
  readonly kept: Kept[] = [];
  clientIds: string[] = [];
  refuses = '';
  /** Packet ids of acknowledgements, in their order. */
  readonly acknowledged: number[] = [];
  /** Whether acknowledgements are lost. */
  loses = false;
  readonly #server: Server;
  #socket: Socket | null = null;
  #packetId = 0;

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(): Promise<MqttBroker> {
    const made = new MqttBroker();
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get isConnected(): boolean {
    return this.#socket !== null;
  }

  publish(topic: string, payload: string | Buffer): void {
    this.#packetId += 1;
    this.kept.push({ packetId: this.#packetId, topic, payload: Buffer.from(payload), wasSent: false });
    this.#send();
  }

  drop(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  async stop(): Promise<void> {
    this.drop();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    let bytes = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = null;
    });
    socket.on('data', (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      while (bytes.length >= 2 && bytes.length >= 2 + (bytes[1] ?? 0)) {
        const end = 2 + (bytes[1] ?? 0);
        this.#take(socket, bytes[0] ?? 0, bytes.subarray(2, end));
        bytes = bytes.subarray(end);
      }
    });
  }

  #take(socket: Socket, first: number, body: Buffer): void {
    switch (first >> 4) {
      case 1: {
        const isRefused = !body.includes('canary-pass');
        const length = body.readUInt16BE(10);
        this.clientIds.push(body.toString('utf8', 12, 12 + length));
        socket.write(Buffer.from([0x20, 2, 0, isRefused ? 5 : 0]));
        return;
      }
      case 8: {
        const topic = body.toString('utf8', 4, 4 + body.readUInt16BE(2));
        const isRefused = topic === this.refuses;
        socket.write(Buffer.from([0x90, 3, body[0] ?? 0, body[1] ?? 0, isRefused ? 0x80 : 1]));
        if (isRefused) return;
        this.subscriptions.push(topic);
        this.#socket = socket;
        this.#send();
        return;
      }
      case 4: {
        const packetId = body.readUInt16BE(0);
        if (this.loses) return;
        this.acknowledged.push(packetId);
        const at = this.kept.findIndex((each) => each.packetId === packetId);
        if (at >= 0) this.kept.splice(at, 1);
        return;
      }
      case 12:
        socket.write(Buffer.from([0xd0, 0]));
    }
  }

  /** What a former connection was sent is sent again, and marked. */
  #send(): void {
    const socket = this.#socket as (Socket & { readonly sent?: Set<number> }) | null;
    if (socket === null) return;
    const sent = socket.sent ?? new Set<number>();
    Object.assign(socket, { sent });
    for (const message of this.kept) {
      if (sent.has(message.packetId)) continue;
      sent.add(message.packetId);
      socket.write(publishPacket(message, message.wasSent));
      message.wasSent = true;
    }
  }
}

function publishPacket({ packetId, topic, payload }: Kept, isDuplicate: boolean): Buffer {
  const name = Buffer.from(topic);
  const header = Buffer.alloc(2);
  header.writeUInt16BE(name.length);
  const id = Buffer.alloc(2);
  id.writeUInt16BE(packetId);
  const body = Buffer.concat([header, name, id, payload]);
  const length: number[] = [];
  for (let left = body.length; ; left = Math.floor(left / 128)) {
    length.push((left % 128) | (left >= 128 ? 128 : 0));
    if (left < 128) break;
  }
  return Buffer.concat([Buffer.from([isDuplicate ? 0x3a : 0x32, ...length]), body]);
}
