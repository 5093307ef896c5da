/**
 * Neurons that a trial in parts has reached: a few per cent of a brain. A byte for each cache line of neurons marks those that
 * may hold one that is not at rest, so that saving a trial, and clearing it, visits marked lines alone.
 *
 * Invariant between parts: every neuron that is not at rest is in a marked line, unless a part was interrupted.
 */
import {
  BackgroundEvent,
  CACHE_LINE_BYTES,
  Entry,
  InputEvent,
  LINE_SHIFT,
  NEURONS,
  Neuron,
  Row,
  Spike,
  marks,
  neuronCount,
  reachedNeurons,
  reachedStates,
  spikingNeurons,
} from './memory';

/** Marks that are looked at together. */
const MARKS_AT_ONCE: usize = 16;
/** Visiting more targets takes longer than going through the whole brain. */
const MOST_VISITED_CONNECTIONS: u32 = 100_000;

/** False from the beginning of a whole trial to its end, and from the first part of another one until all is put to rest. */
export let allAtRest: bool = true;
/** False from the beginning of a trial or part to its end: an interrupted one leaves neurons in lines without a mark. */
let areMarksComplete: bool = true;

/** To be called at the beginning of a trial or part. */
export function leaveRest(): void {
  allAtRest = false;
  areMarksComplete = false;
}

/** A cache line of four neurons, and its mark. */
class Line {
  /** Address of its mark. */
  @inline
  static markOf(neuron: Neuron): usize {
    return marks + ((changetype<usize>(neuron) - NEURONS) >> LINE_SHIFT);
  }

  @inline
  static ofMark(mark: usize): usize {
    return NEURONS + ((mark - marks) << LINE_SHIFT);
  }

  /** A call of memory.fill for each takes longer. */
  @inline
  static clear(line: usize): void {
    v128.store(line, i8x16.splat(0));
    v128.store(line, i8x16.splat(0), 16);
    v128.store(line, i8x16.splat(0), 32);
    v128.store(line, i8x16.splat(0), 48);
  }

  @inline
  static mark(neuron: Neuron): void {
    store<u8>(Line.markOf(neuron), 1);
  }

  /** A bit for each mark from an address on. */
  @inline
  static bitsAt(address: usize): u32 {
    return i8x16.bitmask(i8x16.ne(v128.load(address), i8x16.splat(0)));
  }
}

/** The mark of the sentinel is the last one; behind it all are 0. */
function endOfMarks(): usize {
  return Line.markOf(Neuron.at(neuronCount)) + 1;
}

/**
 * Ends a trial that was simulated whole, which sets no marks. Only neurons that got an input event, spiked or were the target of a spike can differ
 * from rest.
 * @param spikedCount neurons that spiked, in the list of spiking ones
 */
export function putToRest(spikedCount: u32, eventCount: u32, backgroundCount: u32): void {
  if (connectionsOfSpiked(spikedCount) > MOST_VISITED_CONNECTIONS) {
    clearNeurons();
  } else {
    const endOfSpiked = Entry.at(spikingNeurons, spikedCount);
    for (let q: u32 = 0; q < eventCount; q++) InputEvent.neuronOf(q).rest();
    for (let q: u32 = 0; q < backgroundCount; q++) BackgroundEvent.neuronOf(q).rest();
    for (let spiked = Entry.at(spikingNeurons, 0); spiked != endOfSpiked; spiked = spiked.plus(1)) {
      spiked.neuron.rest();
      const row = Row.of(spiked.neuron);
      const end = row.end;
      for (let pair = row.begin; pair != end; pair = pair.next) {
        pair.firstTarget.rest();
        pair.secondTarget.rest();
      }
    }
  }
  allAtRest = true;
  areMarksComplete = true;
}

/**
 * Marks what a part can have reached: neurons that spiked, the targets of their spikes and of earlier ones that had not arrived,
 * and neurons with input events.
 * @param spikedCount neurons that spiked in the part, in the list of spiking ones
 * @param firstSpike of the part
 */
export function markReached(spikedCount: u32, firstSpike: u32, eventCount: u32, backgroundCount: u32): void {
  areMarksComplete = true;
  const endOfEarlier = Spike.at(firstSpike);
  let connections = connectionsOfSpiked(spikedCount);
  for (let spike = Spike.at(0); spike != endOfEarlier; spike = spike.next) {
    connections += Row.of(spike.neuron).connectionCount;
  }
  if (connections > MOST_VISITED_CONNECTIONS) {
    memory.fill(marks, 1, endOfMarks() - marks);
    return;
  }
  const endOfSpiked = Entry.at(spikingNeurons, spikedCount);
  for (let spiked = Entry.at(spikingNeurons, 0); spiked != endOfSpiked; spiked = spiked.plus(1)) {
    Line.mark(spiked.neuron);
    markTargets(spiked.neuron);
  }
  for (let spike = Spike.at(0); spike != endOfEarlier; spike = spike.next) markTargets(spike.neuron);
  for (let q: u32 = 0; q < eventCount; q++) Line.mark(InputEvent.neuronOf(q));
  for (let q: u32 = 0; q < backgroundCount; q++) Line.mark(BackgroundEvent.neuronOf(q));
}

function connectionsOfSpiked(spikedCount: u32): u32 {
  const end = Entry.at(spikingNeurons, spikedCount);
  let count: u32 = 0;
  for (let spiked = Entry.at(spikingNeurons, 0); spiked != end; spiked = spiked.plus(1)) {
    count += Row.of(spiked.neuron).connectionCount;
  }
  return count;
}

function clearNeurons(): void {
  memory.fill(NEURONS, 0, changetype<usize>(Neuron.at(neuronCount)) - NEURONS);
}

function markTargets(neuron: Neuron): void {
  const row = Row.of(neuron);
  const end = row.end;
  for (let pair = row.begin; pair != end; pair = pair.next) {
    Line.mark(pair.firstTarget);
    Line.mark(pair.secondTarget);
  }
}

/**
 * Lists the neurons that are not at rest, ascending.
 * @returns how many there are
 */
export function listReached(): u32 {
  let reached = Entry.at(reachedNeurons, 0);
  let state = changetype<Neuron>(reachedStates);
  const end = endOfMarks();
  for (let group = marks; group < end; group += MARKS_AT_ONCE) {
    for (let bits = Line.bitsAt(group); bits != 0; bits &= bits - 1) {
      const mark = group + ctz(bits);
      const line = Line.ofMark(mark);
      const first = reached;
      for (let at = line; at < line + CACHE_LINE_BYTES; at += offsetof<Neuron>()) {
        const neuron = changetype<Neuron>(at);
        const uh = neuron.uh;
        // No branch, which could not be predicted: whatever is at rest is overwritten by the next.
        const isReached = <u32>v128.any_true(uh);
        reached.neuron = neuron;
        reached = reached.plus(isReached);
        state.uh = uh;
        state = changetype<Neuron>(changetype<usize>(state) + isReached * offsetof<Neuron>());
      }
      store<u8>(mark, <u8>(reached != first));
    }
  }
  return reached.indexIn(reachedNeurons);
}

/** Puts all neurons to rest, then restores those that the host has listed, with their states. @param count how many */
export function restoreReached(count: u32): void {
  const marksEnd = endOfMarks();
  if (areMarksComplete) {
    for (let group = marks; group < marksEnd; group += MARKS_AT_ONCE) {
      const bits = Line.bitsAt(group);
      if (bits == 0) continue;
      for (let rest = bits; rest != 0; rest &= rest - 1) {
        Line.clear(Line.ofMark(group + ctz(rest)));
      }
      v128.store(group, i8x16.splat(0));
    }
  } else {
    clearNeurons();
    memory.fill(marks, 0, marksEnd - marks);
  }
  areMarksComplete = true;
  allAtRest = count == 0;
  const end = Entry.at(reachedNeurons, count);
  let state = changetype<Neuron>(reachedStates);
  for (let reached = Entry.at(reachedNeurons, 0); reached != end; reached = reached.plus(1)) {
    const neuron = reached.neuron;
    neuron.uh = state.uh;
    Line.mark(neuron);
    state = state.next;
  }
}
