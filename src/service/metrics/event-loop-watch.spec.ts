import { EventLoopWatch } from './event-loop-watch.js';

it('adds up the lateness of its timer, except small ones, whoever reads it in between', () => {
  jest.useFakeTimers();
  let nowMs = 0;
  const watch = new EventLoopWatch(() => nowMs);
  const blocked = (lateMs: number) => {
    nowMs += 50 + lateMs;
    jest.advanceTimersByTime(50);
    return watch.blockedMs;
  };
  try {
    expect([0, 50, 300, 0, 60, 20].map(blocked)).toEqual([0, 0, 300, 300, 360, 360]);
  } finally {
    watch.end();
    jest.useRealTimers();
  }
});
