import { v1Protocol, type Protocol } from '../../stimulus/protocol.js';
import { Activity, expectedInputEvents } from './activity.js';

const neurons = (count: number) => Uint32Array.from({ length: count }, (_, i) => i);
const poisson = { kind: 'poisson', name: 'a', rateHz: 100, seed: 1, trial: 1 } as const;

/** 20 neurons at 150 Hz for 100 ms: 300 input events. */
const protocol = v1Protocol(neurons(20), { nominalRateHz: 150, intensity: 1, seed: 1 }, 1000);

describe('expectedInputEvents', () => {
  it('counts rates, windows within the trial, and given events', () => {
    const inputs = [
      // 10 neurons, 100 Hz, 40 ms of a window that begins before the end of the trial.
      { neurons: neurons(10), train: { ...poisson, startStep: 600, endStep: 5000 } },
      { neurons: neurons(10), train: { ...poisson, startStep: 2000, endStep: 5000 } },
      { neurons: neurons(3), train: { kind: 'spikes', steps: Uint32Array.from([1, 2]) } },
      { neurons: neurons(2), train: { kind: 'spikes', steps: [Uint32Array.of(1), Uint32Array.of(1, 2, 3)] } },
    ] as const;
    expect(expectedInputEvents({ inputs, silenced: neurons(0), durationSteps: 1000 })).toBeCloseTo(50, 9);
    expect(expectedInputEvents(protocol)).toBeCloseTo(300, 9);
  });
});

describe('Activity', () => {
  const twice: Protocol = { ...protocol, durationSteps: 2000 };

  it('expects nothing before anything was measured', () => {
    expect(new Activity().loadOf({ protocol, group: 'a' })).toEqual({ steps: 1000, synapticEvents: 0 });
  });

  it('expects of a job what its group has delivered for an input event, or else what all have', () => {
    const activity = new Activity();
    activity.learn({ protocol, group: 'quiet' }, 3_000);
    activity.learn({ protocol, group: 'busy' }, 297_000);
    expect(activity.loadOf({ protocol: twice, group: 'busy' })).toEqual({
      steps: 2000,
      synapticEvents: 594_000,
    });
    expect(activity.loadOf({ protocol, group: 'quiet' }).synapticEvents).toBeCloseTo(3_000, 6);
    expect(activity.loadOf({ protocol, group: 'new' }).synapticEvents).toBeCloseTo(150_000, 6);
  });

  it('expects no more than the budget lets through', () => {
    const activity = new Activity();
    activity.learn({ protocol, group: 'busy' }, 297_000);
    const cheap = { ...protocol, eventBudget: 1_000 };
    expect(activity.loadOf({ protocol: cheap, group: 'busy' }).synapticEvents).toBe(1_000);
  });
});
