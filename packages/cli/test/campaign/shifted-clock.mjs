// Preloaded into a process of the service: moves its wall clock by the milliseconds in a file, as an operator or a time server would.
// Monotonic clocks and timers are left alone, as they are then.
import { readFileSync } from 'node:fs';

const file = process.env.FAULT_TEST_CLOCK;
let offsetMs = 0;
const read = () => {
  try {
    offsetMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // It is being written.
  }
};

const RealDate = Date;
const now = () => RealDate.now() + offsetMs;
if (file !== undefined) {
  read();
  setInterval(read, 100).unref();
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self),
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}
