/**
 * Tracks the neurons that a trial in segments has reached, which are a few per cent of a brain. Each cache line holds
 * four neurons and has a mark, a byte: 1 if any of the four may not be at rest. Saving and clearing a trial visit only
 * the marked lines.
 *
 * Invariant between segments: every neuron that is not at rest is in a marked line, unless a segment was interrupted.
 */
import {
  CACHE_LINE_BYTES,
  Entry,
  Events,
  LINE_SHIFT,
  NEURONS,
  Neuron,
  Row,
  Spike,
  backgroundNeurons,
  eventNeurons,
  marks,
  neuronCount,
  reachedNeurons,
  reachedStates,
  spikingNeurons,
} from './memory';

/** The number of marks that one vector load reads. */
const MARKS_AT_ONCE: usize = 16;
/** With more connections, visiting their targets takes longer than visiting the whole brain. */
const MAX_VISITED_CONNECTIONS: u32 = 100_000;

/** False during a whole trial, and from the first segment of a trial until all neurons are put to rest. */
export let allAtRest: bool = true;
/** False during a trial or segment: if one is interrupted, neurons that are not at rest may be in unmarked lines. */
let areMarksComplete: bool = true;

/** Call this at the beginning of a trial or segment. */
export function leaveRest(): void {
  allAtRest = false;
  areMarksComplete = false;
}

/** Operations on cache lines of four neurons and on their marks. */
class Line {
  /** @returns the address of the mark of a neuron's line */
  @inline
  static markOf(neuron: Neuron): usize {
    return marks + ((changetype<usize>(neuron) - NEURONS) >> LINE_SHIFT);
  }

  @inline
  static ofMark(mark: usize): usize {
    return NEURONS + ((mark - marks) << LINE_SHIFT);
  }

  /** Faster than a call of memory.fill. */
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

  /** @returns a bit for each of the 16 marks from an address on */
  @inline
  static bitsAt(address: usize): u32 {
    return i8x16.bitmask(i8x16.ne(v128.load(address), i8x16.splat(0)));
  }
}

/** The sentinel's mark is the last one; all bytes after it are 0. */
function endOfMarks(): usize {
  return Line.markOf(Neuron.at(neuronCount)) + 1;
}

/**
 * Puts all neurons to rest after a whole trial, which sets no marks. Only neurons that got an input event, spiked, or
 * were the target of a spike can differ from rest.
 * @param spikedCount the length of the list of spiking neurons, which has each neuron that spiked once
 */
export function putToRest(spikedCount: u32, eventCount: u32, backgroundCount: u32): void {
  if (connectionsOfSpiked(spikedCount) > MAX_VISITED_CONNECTIONS) {
    clearNeurons();
  } else {
    const endOfSpiked = Entry.at(spikingNeurons, spikedCount);
    for (let q: u32 = 0; q < eventCount; q++) Events.neuronOf(eventNeurons, q).rest();
    for (let q: u32 = 0; q < backgroundCount; q++) Events.neuronOf(backgroundNeurons, q).rest();
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
 * Marks the lines of all neurons that a segment can have reached: neurons that spiked, their targets, targets of
 * earlier spikes that arrived in the segment, and neurons with input events.
 * @param spikedCount the length of the list of spiking neurons, which has each neuron that spiked once
 * @param firstSpike the index of the segment's first spike
 */
export function markReached(spikedCount: u32, firstSpike: u32, eventCount: u32, backgroundCount: u32): void {
  areMarksComplete = true;
  const endOfEarlier = Spike.at(firstSpike);
  let connections = connectionsOfSpiked(spikedCount);
  for (let spike = Spike.at(0); spike != endOfEarlier; spike = spike.next) {
    connections += Row.of(spike.neuron).connectionCount;
  }
  if (connections > MAX_VISITED_CONNECTIONS) {
    memory.fill(marks, 1, endOfMarks() - marks);
    return;
  }
  const endOfSpiked = Entry.at(spikingNeurons, spikedCount);
  for (let spiked = Entry.at(spikingNeurons, 0); spiked != endOfSpiked; spiked = spiked.plus(1)) {
    Line.mark(spiked.neuron);
    markTargets(spiked.neuron);
  }
  for (let spike = Spike.at(0); spike != endOfEarlier; spike = spike.next) markTargets(spike.neuron);
  for (let q: u32 = 0; q < eventCount; q++) Line.mark(Events.neuronOf(eventNeurons, q));
  for (let q: u32 = 0; q < backgroundCount; q++) Line.mark(Events.neuronOf(backgroundNeurons, q));
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
 * Lists the neurons that are not at rest, ascending, with their states.
 * @returns their number
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
        // No branch, as it could not be predicted: the next neuron overwrites one that is at rest.
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

/**
 * Puts all neurons to rest, then restores the neurons that the host has listed with their states.
 * @param count the number of listed neurons
 */
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
