import { Subject } from 'rxjs';
import { serverSentEvent, SessionEvents } from './session-events.js';

afterEach(() => jest.useRealTimers());

it('a session without steps sends a comment every 15 s, until its watcher leaves', () => {
  jest.useFakeTimers();
  const steps = new Subject<Buffer>();
  const events = new SessionEvents(serverSentEvent('session', '{}'), steps);
  const sent = () => (events.read() as Buffer | null)?.toString();
  expect(sent()).toBe('event: session\ndata: {}\n\n');
  jest.advanceTimersByTime(14_999);
  expect(sent()).toBeUndefined();
  jest.advanceTimersByTime(30_001);
  expect(sent()).toBe(':\n\n:\n\n:\n\n');
  events.destroy();
  expect([jest.getTimerCount(), steps.observed]).toEqual([0, false]);
});

it('the end of a session reaches a watcher that reads later', async () => {
  jest.useFakeTimers();
  const steps = new Subject<Buffer>();
  const events = new SessionEvents(serverSentEvent('session', '{}'), steps);
  steps.next(serverSentEvent('end', '{}'));
  steps.complete();
  jest.advanceTimersByTime(60_000);
  jest.useRealTimers();
  expect((await events.toArray()).join('')).toBe('event: session\ndata: {}\n\nevent: end\ndata: {}\n\n');
});
