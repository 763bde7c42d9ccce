/**
 * Loaded into every Node process that `verify` starts, by NODE_OPTIONS: moves its clock and changes its host and user name, as
 * three variables say. It imports nothing of ours, because the processes are the user's programs.
 *
 * The clock is what programs ask for the time: Date, performance, process.hrtime, and Intl's formats of now. Timers are left
 * alone.
 */

import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

/** The URL of this module, for `--import`; in a process without the variables it does nothing. */
export const preloadUrl: string = import.meta.url;

const movedMs = Number(process.env['ONCEMQ_VERIFY_CLOCK_MS'] ?? 0);
if (movedMs !== 0) moveClock(movedMs);

const hostName = process.env['ONCEMQ_VERIFY_HOSTNAME'];
if (hostName !== undefined) {
  os.hostname = () => hostName;
  syncBuiltinESMExports();
}

const userName = process.env['ONCEMQ_VERIFY_USER'];
if (userName !== undefined) {
  const { userInfo } = os;
  os.userInfo = ((options: object) => ({
    ...userInfo(options),
    username: userName,
  })) as typeof userInfo;
  syncBuiltinESMExports();
}

function moveClock(byMs: number): void {
  const RealDate = globalThis.Date;
  const now = (): number => RealDate.now() + byMs;
  const moved = new Proxy(RealDate, {
    construct: (target, args: [], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
  globalThis.Date = moved;
  RealDate.prototype.constructor = moved;
  const sinceStart = performance.now.bind(performance);
  const startedAt = performance.timeOrigin;
  Object.defineProperties(performance, {
    now: { value: () => sinceStart() + byMs, configurable: true, writable: true },
    timeOrigin: { get: () => startedAt + byMs, configurable: true },
  });
  moveMonotonicClock(byMs);
  const { prototype } = Intl.DateTimeFormat;
  const format = Object.getOwnPropertyDescriptor(prototype, 'format')?.get;
  const { formatToParts } = prototype;
  Object.defineProperties(prototype, {
    format: {
      configurable: true,
      get(this: Intl.DateTimeFormat) {
        const own = format?.call(this) as Intl.DateTimeFormat['format'];
        return (date: Date | number = now()) => own(date);
      },
    },
    formatToParts: {
      configurable: true,
      value(this: Intl.DateTimeFormat, date: Date | number = now()) {
        return formatToParts.call(this, date);
      },
    },
  });
}

function moveMonotonicClock(byMs: number): void {
  const { bigint } = process.hrtime;
  const now = (): bigint => bigint() + BigInt(byMs) * 1_000_000n;
  const second = 1_000_000_000n;
  const hrtime = (since?: [number, number]): [number, number] => {
    const ns = now() - BigInt(since?.[0] ?? 0) * second - BigInt(since?.[1] ?? 0);
    return [Number(ns / second), Number(ns % second)];
  };
  process.hrtime = Object.assign(hrtime, { bigint: now });
}
