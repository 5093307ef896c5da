/**
 * The kernels, as JavaScript text that gpu.js translates for the GPU. Each thread of a kernel writes one float.
 * Functions get no arrays and cannot change variables of their caller, so kernels share statements as text.
 *
 * The same bits on every GPU. Every number is an integer below 2^24 or a power of two. gpu.js makes every variable a
 * float32, but indices of states and connections may be larger; so they are combined only inside the brackets, from
 * shifts, `|` and sums of literals. WGSL does not guarantee a correctly rounded division, so kernels multiply n + 1/2
 * instead (incoming.ts). Loops over bits end at a constant, because a GPU must see that they end.
 *
 * A window has 18 steps. A spike of one window arrives in the next, so within a window no neuron depends on another.
 * Two kernels advance the state of a neuron in a trial: nextStatuses finds its spikes, nextStates computes its four
 * floats at the end of the window.
 *
 * Arrays. Some hold two or three tables, which saves passes and bindings:
 *   statuses   [neuron][trial]          see below
 *   states     [state >> 3][part][state & 7]  u and h of neurons that are free or stimulated (pipeline-shape.ts).
 *              Other states are 0 and not stored: their floats are undefined
 *              [neuron]                 1 if it spiked in the window in any trial
 *   silenced   [trial][slot]            neurons, ascending
 *   inputs     [row][trial][slot]       row 0: stimulated neurons, ascending. Then `layers` rows for each window: bits
 *              of the steps with an event. If a step has several events, several rows have its bit
 *   active     [word]                   24 bits: neurons that spiked in any trial
 *              [word][trial]            the number of their spikes in each trial
 *   masks      [group]                  24 bits: connections of the group whose source was active
 *              [block][trial]           the number of spikes of a block of words in each trial
 *   arrivals   the input of a window, in one array, because a kernel cannot bind more: masks; then row 0 of inputs
 *              and the rows of the window; then [chunk][sum][trial], the sums of hubs (CHUNK_SUMS)
 *   spikes     [trial][slot]            1 + the number of spikes; then each spike as 1 + step + neuron * 2^STEP_BITS,
 *              by neuron, then by step; then 1 + their number again
 *
 * A status is the sum of the spike bits of the window (18), code * 2^18 and flag * 2^23. It is negative if the neuron
 * is silenced. The codes are:
 *   1 + r        refractory for r steps after the window; FREE if r is 0
 *   STIMULATED   gets events and has no refractory period
 *   IDLE         has the state 0
 *
 * A set flag stays: v came too close to the threshold, or the state left its range.
 *
 * No status and no entry of spikes is 0, because a GPU that refuses its work returns zeros.
 */
import { REFRACTORY_STEPS } from '../network.js';
import { CHUNK_GROUPS, CHUNK_SUMS, GROUP_CONNECTIONS } from './incoming.js';
import {
  INPUT_EVENT_SYNAPSES,
  MAX_TOP_LIMB,
  LIGHT_FLOAT_BELOW,
  LIGHT_SYNAPSES,
  LIMB_BASE,
  MARGIN_UNITS,
  MEMBRANE,
  QUIET_BELOW,
  SYNAPSE,
  THRESHOLD_UNITS,
  toLimbs,
  WINDOW_STEPS,
} from './number-format.js';
import { BLOCK_WORDS, FLAG_NEURONS, STEP_BITS, WORD_NEURONS } from './pipeline-shape.js';

export const FLAG_SHIFT = 23;
export const FREE = 1;
export const STIMULATED = 30;
export const IDLE = 31;

/** The bits of a status that are the spikes of the window. */
export const SPIKE_BITS = 2 ** WINDOW_STEPS - 1;

// ---- shared statements and expressions ---------------------------------------------------------------------

/** A binary search for `neuron` in ascending entries. `low` and `high` become the first entry that is not below it. */
const search = (low: string, high: string, entryAtMiddle: string) => `
  for (let search = 0; search < this.constants.searchSteps; search++) {
    if (${low} < ${high}) {
      const middle = Math.floor((${low} + ${high}) * 0.5);
      if (${entryAtMiddle} < neuron) {
        ${low} = middle + 1;
      } else {
        ${high} = middle;
      }
    }
  }`;

/** Runs the statements once for each bit of `spikes`. */
const forEachSpike = (statements: string) => `
  for (let spike = 0; spike < ${WINDOW_STEPS}; spike++) {
    if (spikes < 0.5) break;
    spikes = spikes & (spikes - 1);
    ${statements}
  }`;

/**
 * Runs the statements for each active connection of `groups` groups from `group` on, at most one chunk. A connection is
 * active if its source has spiked in the window and is not silenced. The statements can use `k` and `group + g`, which
 * identify the connection, and `sent`, the status of its source.
 */
const forEachActiveConnection = (masks: string, statements: string) => `
  for (let g = 0; g < ${CHUNK_GROUPS}; g++) {
    if (g >= groups) break;
    let mask = ${masks}[group + g];
    for (let b = 0; b < ${GROUP_CONNECTIONS}; b++) {
      if (mask < 0.5) break;
      const k = 31 - Math.clz32(mask);
      mask = mask - (1 << k);
      const source = this.constants.sourceOf[k][group + g];
      const sent = statuses[(source << this.constants.widthShift) | trial];
      if (sent > 0) {
        ${statements}
      }
    }
  }`;

const BITS_OF_EVENTS =
  'arrivals[this.constants.eventsAt + (((layer + 1) << this.constants.slotsShift) | slot)]';

/** Sets `slot` for a stimulated neuron, and `events` to a number above 0 if any step has an input event. */
const FIND_INPUT_EVENTS = `
  let slot = trial * this.constants.stimulatedSlots;
  let events = 0;
  if (code === ${STIMULATED}) {
    let end = slot + this.constants.stimulatedSlots - 1;
    ${search('slot', 'end', 'arrivals[this.constants.eventsAt + (middle | 0)]')}
    for (let layer = 0; layer < this.constants.layers; layer++) {
      events = events + ${BITS_OF_EVENTS};
    }
  }`;

/** Sets `eventsOfStep` to the number of input events of `step`. */
const COUNT_EVENTS_OF_STEP = `
  let eventsOfStep = 0;
  if (events > 0.5) {
    for (let layer = 0; layer < this.constants.layers; layer++) {
      const bits = ${BITS_OF_EVENTS};
      eventsOfStep = eventsOfStep + ((bits >> step) & 1);
    }
  }`;

/** A sum of chunk `c` of a hub: the synapses of a step; at 18 the exciting synapses, at 19 all synapses. */
const hubSum = (sum: string | number) =>
  `arrivals[this.constants.hubSumsAt + (((sums + ${sum}) << this.constants.widthShift) | trial)]`;

const forEachStepOfChunk = (statements: string) => `
  for (let step = 0; step < ${WINDOW_STEPS}; step++) {
    const synapses = ${hubSum('step')};
    ${statements}
  }`;

const ADD_TO_STEP = `
  steps0 = withArrival(steps0, step, synapses);
  steps4 = withArrival(steps4, step - 4, synapses);
  steps8 = withArrival(steps8, step - 8, synapses);
  steps12 = withArrival(steps12, step - 12, synapses);
  steps16 = withArrival(steps16, step - 16, synapses);`;

/**
 * Adds up a neuron's input in a window, in up to two passes over its connections, or over the sums of a hub. The first
 * pass adds `all` synapses without their signs, and the sums that the kernel always needs. If they do not suffice, the
 * second pass adds the synapses of each step, which takes longer.
 */
const addArrivals = (kernel: {
  /** An expression: true if the second pass is not needed. */
  readonly isDone: string;
  /** First pass: adds `synapses` that arrive in `step`, from a connection or a chunk of a hub. */
  readonly add: string;
  /** First pass: adds a whole chunk of a hub, if its steps do not matter. */
  readonly addChunk?: string;
  /** Runs after the first pass. */
  readonly decide: string;
}) => `
  let all = 0;
  let steps0 = [0, 0, 0, 0];
  let steps4 = [0, 0, 0, 0];
  let steps8 = [0, 0, 0, 0];
  let steps12 = [0, 0, 0, 0];
  let steps16 = [0, 0, 0, 0];
  const group = this.constants.tables[neuron];
  const groups = this.constants.tables[neuron + 1] - group;
  for (let pass = 0; pass < 2; pass++) {
    if (${kernel.isDone}) break;
    if (groups > ${CHUNK_GROUPS}) {
      const chunk = this.constants.tables[this.constants.firstChunkAt + neuron];
      const chunks = this.constants.tables[this.constants.firstChunkAt + neuron + 1] - chunk;
      for (let c = 0; c < this.constants.maxChunks; c++) {
        if (c >= chunks) break;
        const sums = (chunk + c) * ${CHUNK_SUMS};
        const allOfChunk = ${hubSum(WINDOW_STEPS + 1)};
        if (allOfChunk > 0) {
          if (pass < 0.5) {
            all = all + allOfChunk;
            ${kernel.addChunk ?? forEachStepOfChunk(kernel.add)}
          } else {
            ${forEachStepOfChunk(ADD_TO_STEP)}
          }
        }
      }
    } else {
      ${forEachActiveConnection(
        'arrivals',
        `let arriving = sent & ${SPIKE_BITS};
        for (let spike = 0; spike < ${WINDOW_STEPS}; spike++) {
          if (arriving < 0.5) break;
          const step = 31 - Math.clz32(arriving);
          arriving = arriving - (1 << step);
          const synapses = this.constants.synapsesOf[k][group + g];
          if (pass < 0.5) {
            all = all + Math.abs(synapses);
            ${kernel.add}
          } else {
            ${ADD_TO_STEP}
          }
        }`,
      )}
    }
    if (pass < 0.5) {
      ${kernel.decide}
    }
  }`;

/** Runs the statements for each `step` of the window; `sums[k]` has the synapses that arrive in it. */
const forEachStep = (statements: string) => `
  for (let quarter = 0; quarter < 5; quarter++) {
    let sums = [0, 0, 0, 0];
    if (quarter === 0) sums = steps0;
    if (quarter === 1) sums = steps4;
    if (quarter === 2) sums = steps8;
    if (quarter === 3) sums = steps12;
    if (quarter === 4) sums = steps16;
    for (let k = 0; k < 4; k++) {
      const step = quarter * 4 + k;
      if (step > ${WINDOW_STEPS - 0.5}) break;
      ${statements}
    }
  }`;

const tableLimbs = (at: string) =>
  ['', ' + 1', ' + 2', ' + 3'].map((limb) => `this.constants.tables[${at}${limb}]`).join(', ');
const NO_LIMBS = '0, 0, 0, 0';

// ---- kernels -----------------------------------------------------------------------------------------------

/** Writes statuses before the first window: all idle or stimulated, and silenced or not. */
export const restingStatuses = `function restingStatuses(silenced, inputs) {
  const neuron = this.thread.x >> this.constants.widthShift;
  const trial = this.thread.x & this.constants.trialBits;
  let low = trial * this.constants.stimulatedSlots;
  let high = low + this.constants.stimulatedSlots - 1;
  ${search('low', 'high', 'inputs[0][middle]')}
  let code = ${IDLE};
  if (inputs[0][low] === neuron) {
    code = ${STIMULATED};
  }
  low = trial * this.constants.silencedSlots;
  high = low + this.constants.silencedSlots - 1;
  ${search('low', 'high', 'silenced[middle]')}
  let status = code * ${2 ** WINDOW_STEPS};
  if (silenced[low] === neuron) {
    status = 0 - status;
  }
  return status;
}`;

/** Writes states before the first window. The argument does not matter, but gpu.js needs one. */
export const restingStates = `function restingStates(statuses) {
  return statuses[0] * 0;
}`;

/** Writes active: the first threads write bits, the others the number of spikes in one trial. */
export const activeWords = `function activeWords(statuses, states) {
  if (this.thread.x < this.constants.countsAt) {
    let bits = 0;
    let bit = 1;
    for (let k = 0; k < ${WORD_NEURONS}; k++) {
      const neuron = this.thread.x * ${WORD_NEURONS} + k;
      if (neuron < this.constants.neuronCount) {
        bits = bits + bit * states[this.constants.activeAt + (neuron | 0)];
      }
      bit = bit * 2;
    }
    return bits;
  }
  const word = (this.thread.x - this.constants.countsAt) >> this.constants.widthShift;
  const trial = (this.thread.x - this.constants.countsAt) & this.constants.trialBits;
  let count = 0;
  for (let k = 0; k < ${WORD_NEURONS}; k++) {
    const neuron = word * ${WORD_NEURONS} + k;
    if (neuron < this.constants.neuronCount) {
      if (states[this.constants.activeAt + (neuron | 0)] > 0.5) {
        const status = statuses[(neuron << this.constants.widthShift) | trial];
        let spikes = Math.abs(status) & ${SPIKE_BITS};
        ${forEachSpike('count = count + 1;')}
      }
    }
  }
  return count;
}`;

/**
 * Writes spikes. A thread finds its spike by the counts of blocks, the counts of words, the word's bits and statuses.
 */
export const spikeLists = `function spikeLists(statuses, active, masks) {
  const trial = this.thread.x >> this.constants.spikesShift;
  const slot = this.thread.x & this.constants.spikeSlotBits;
  let before = 0;
  let block = 0;
  for (let k = 0; k < this.constants.blocks; k++) {
    const after = before + masks[this.constants.groupCount + ((k << this.constants.widthShift) | trial)];
    if (slot > 0.5 && slot < after + 0.5) break;
    before = after;
    block = block + 1;
  }
  if (block > this.constants.blocks - 0.5) {
    // The first slot, and those after the last spike.
    return 1 + before;
  }
  let word = block * ${BLOCK_WORDS};
  for (let k = 0; k < ${BLOCK_WORDS}; k++) {
    const after = before + active[this.constants.countsAt + ((word << this.constants.widthShift) | trial)];
    if (slot < after + 0.5) break;
    before = after;
    word = word + 1;
  }
  const bits = active[word];
  for (let k = 0; k < ${WORD_NEURONS}; k++) {
    if (((bits >> k) & 1) > 0) {
      const neuron = word * ${WORD_NEURONS} + k;
      const status = statuses[(neuron << this.constants.widthShift) | trial];
      let spikes = Math.abs(status) & ${SPIKE_BITS};
      for (let spike = 0; spike < ${WINDOW_STEPS}; spike++) {
        if (spikes < 0.5) break;
        before = before + 1;
        if (slot < before + 0.5) {
          const lowest = spikes & (0 - spikes);
          return neuron * ${2 ** STEP_BITS} + 32 - Math.clz32(lowest);
        }
        spikes = spikes & (spikes - 1);
      }
    }
  }
  // The counts have a spike that no status has: the batch is refused.
  return 0;
}`;

/** Writes masks, and the number of spikes of each block of words in each trial. */
export const connectionMasks = `function connectionMasks(active) {
  if (this.thread.x >= this.constants.groupCount) {
    const block = (this.thread.x - this.constants.groupCount) >> this.constants.widthShift;
    const trial = (this.thread.x - this.constants.groupCount) & this.constants.trialBits;
    let count = 0;
    for (let k = 0; k < ${BLOCK_WORDS}; k++) {
      const word = block * ${BLOCK_WORDS} + k;
      if (word < this.constants.words) {
        count = count + active[this.constants.countsAt + ((word << this.constants.widthShift) | trial)];
      }
    }
    return count;
  }
  let mask = 0;
  let bit = 1;
  for (let k = 0; k < ${GROUP_CONNECTIONS}; k++) {
    const source = this.constants.sourceOf[k][this.thread.x];
    const word = Math.floor((source + 0.5) * ${1 / WORD_NEURONS});
    const isActive = (active[word] >> (source - word * ${WORD_NEURONS})) & 1;
    mask = mask + bit * isActive;
    bit = bit * 2;
  }
  return mask;
}`;

/** Writes arrivals: copies the masks and the input events of the window, and computes the sums of hubs. */
export const windowArrivals = `function windowArrivals(statuses, masks, inputs, window) {
  if (this.thread.x < this.constants.eventsAt) {
    return masks[this.thread.x];
  }
  if (this.thread.x < this.constants.hubSumsAt) {
    const row = (this.thread.x - this.constants.eventsAt) >> this.constants.slotsShift;
    const slot = (this.thread.x - this.constants.eventsAt) & this.constants.slotBits;
    if (row < 0.5) {
      return inputs[0][slot];
    }
    return inputs[window * this.constants.layers + row][slot];
  }
  const record = (this.thread.x - this.constants.hubSumsAt) >> this.constants.widthShift;
  const trial = (this.thread.x - this.constants.hubSumsAt) & this.constants.trialBits;
  const chunk = Math.floor((record + 0.5) * ${1 / CHUNK_SUMS});
  const sum = record - chunk * ${CHUNK_SUMS};
  const group = this.constants.tables[this.constants.groupOfChunkAt + chunk];
  const groups = this.constants.tables[this.constants.groupsOfChunkAt + chunk];
  let total = 0;
  ${forEachActiveConnection(
    'masks',
    `const synapses = this.constants.synapsesOf[k][group + g];
    let spikes = sent & ${SPIKE_BITS};
    if (sum < ${WINDOW_STEPS}) {
      total = total + synapses * ((spikes >> sum) & 1);
    } else {
      let amount = Math.max(0, synapses);
      if (sum > ${WINDOW_STEPS}) {
        amount = Math.abs(synapses);
      }
      ${forEachSpike('total = total + amount;')}
    }`,
  )}
  return total;
}`;

/**
 * Writes statuses after a window. The first pass sums up the arriving synapses, which tells whether the neuron may
 * spike. The few neurons that may get a second pass for the sums of each step, and are then stepped through.
 */
export const nextStatuses = `function nextStatuses(statuses, states, arrivals) {
  const neuron = this.thread.x >> this.constants.widthShift;
  const trial = this.thread.x & this.constants.trialBits;
  const before = statuses[this.thread.x];
  let status = Math.abs(before);
  let flag = (status >> ${FLAG_SHIFT}) & 1;
  let code = (status >> ${WINDOW_STEPS}) & 31;
  let spikes = 0;
  let refractory = 0;
  if (code < ${STIMULATED}) {
    refractory = code - 1;
  }
  if (refractory >= ${WINDOW_STEPS}) {
    // Refractory throughout the window.
    code = code - ${WINDOW_STEPS};
  } else {
    ${FIND_INPUT_EVENTS}
    // Neurons that are idle or refractory begin with 0.
    let hasState = 0;
    let uHigh = 0;
    let hHigh = 0;
    if (code === ${FREE} || code === ${STIMULATED}) {
      hasState = 1;
      uHigh = states[((this.thread.x >> 3) << 5) | (this.thread.x & 7)];
      hHigh = states[((this.thread.x >> 3) << 5) | 16 | (this.thread.x & 7)];
    }
    let exciting = 0;
    let isIdle = 0;
    let mayStep = 1;
    ${addArrivals({
      isDone: 'mayStep < 0.5',
      add: 'exciting = exciting + Math.max(0, synapses);',
      addChunk: `exciting = exciting + ${hubSum(WINDOW_STEPS)};`,
      decide: `
        if (hasState < 0.5 && all < 0.5) {
          isIdle = 1;
          mayStep = 0;
        } else if (
          events < 0.5 &&
          all <= ${LIGHT_SYNAPSES} &&
          Math.max(Math.abs(uHigh), Math.abs(hHigh)) < ${LIGHT_FLOAT_BELOW} &&
          potentialBound(uHigh, hHigh, exciting) < ${QUIET_BELOW}
        ) {
          mayStep = 0;
        }`,
    })}
    if (isIdle > 0.5) {
      code = ${IDLE};
    } else {
      if (mayStep > 0.5) {
        let u = [0, 0, 0, 0];
        let h = [0, 0, 0, 0];
        if (hasState > 0.5) {
          u = unpacked(uHigh, states[((this.thread.x >> 3) << 5) | 8 | (this.thread.x & 7)]);
          h = unpacked(hHigh, states[((this.thread.x >> 3) << 5) | 24 | (this.thread.x & 7)]);
        }
        let bit = 1;
        ${forEachStep(`
          if (refractory > 0.5) {
            refractory = refractory - 1;
          } else {
            u = decayedLimbs(u, ${toLimbs(MEMBRANE.stepLoss).join(', ')}, ${NO_LIMBS});
            h = decayedLimbs(h, ${toLimbs(SYNAPSE.stepLoss).join(', ')}, ${NO_LIMBS});
            const above = aboveThreshold(u, h, ${toLimbs(THRESHOLD_UNITS).join(', ')});
            if (Math.abs(above) < ${MARGIN_UNITS}) {
              flag = 1;
            }
            if (above > 0.5) {
              spikes = spikes + bit;
              u = [0, 0, 0, 0];
              h = [0, 0, 0, 0];
              if (code !== ${STIMULATED}) {
                refractory = ${REFRACTORY_STEPS - 1};
              }
            } else {
              const synapses = sums[k];
              ${COUNT_EVENTS_OF_STEP}
              h = withSynapses(h, synapses);
              u = withSynapses(u, synapses + eventsOfStep * ${INPUT_EVENT_SYNAPSES});
              if (Math.max(Math.abs(u[3]), Math.abs(h[3])) > ${MAX_TOP_LIMB}) {
                flag = 1;
                u = inRange(u, ${MAX_TOP_LIMB});
                h = inRange(h, ${MAX_TOP_LIMB});
              }
            }
          }
          bit = bit * 2;`)}
      } else {
        // A refractory neuron took in nothing before its end, and is free now.
        refractory = 0;
      }
      if (code !== ${STIMULATED}) {
        code = 1 + refractory;
      }
    }
  }
  status = spikes + code * ${2 ** WINDOW_STEPS} + flag * ${2 ** FLAG_SHIFT};
  if (before < 0) {
    status = 0 - status;
  }
  return status;
}`;

/** Adds the part of the synapses that remains at the end of the window to c0 to c3. */
const ADD_DECAYED = `
  if (step > first - 0.5) {
    c0 = c0 + synapses * this.constants.tables[arrivalAt + step * 4];
    c1 = c1 + synapses * this.constants.tables[arrivalAt + step * 4 + 1];
    c2 = c2 + synapses * this.constants.tables[arrivalAt + step * 4 + 2];
    c3 = c3 + synapses * this.constants.tables[arrivalAt + step * 4 + 3];
  }`;

/**
 * Writes states after a window, only of neurons that are free or stimulated after it. Spikes are known by now, so u
 * and h no longer depend on each other. The first pass sums up the decayed input, which suffices for a light window.
 * The last threads find the active neurons.
 */
export const nextStates = `function nextStates(statuses, statusesAfter, states, arrivals) {
  if (this.thread.x >= this.constants.activeAt) {
    const spiking = this.thread.x - this.constants.activeAt;
    let active = 0;
    for (let trial = 0; trial < this.constants.width; trial++) {
      const status = statusesAfter[(spiking << this.constants.widthShift) | trial];
      const spikes = Math.abs(status) & ${SPIKE_BITS};
      if (spikes > 0) {
        active = 1;
      }
    }
    return active;
  }
  // Bits 3 and 4 of the thread are the part of the state; without them it is the number of the state.
  const statusAfter = Math.abs(statusesAfter[((this.thread.x >> 5) << 3) | (this.thread.x & 7)]);
  const code = (statusAfter >> ${WINDOW_STEPS}) & 31;
  if (code === ${FREE} || code === ${STIMULATED}) {
    const neuron = (((this.thread.x >> 5) << 3) | (this.thread.x & 7)) >> this.constants.widthShift;
    const trial = (((this.thread.x >> 5) << 3) | (this.thread.x & 7)) & this.constants.trialBits;
    const isLow = (this.thread.x >> 3) & 1;
    const isH = (this.thread.x >> 4) & 1;
    // The neuron begins with its state, or with 0, and takes in the input that arrives from step first on: after its
    // last spike, if it spikes and goes on, and after the end of its refractory period.
    let first = 0;
    let hasState = 1;
    const before = Math.abs(statuses[((this.thread.x >> 5) << 3) | (this.thread.x & 7)]);
    const codeBefore = (before >> ${WINDOW_STEPS}) & 31;
    if (codeBefore === ${IDLE}) {
      hasState = 0;
    } else {
      if (codeBefore !== ${STIMULATED} && codeBefore !== ${FREE}) {
        hasState = 0;
        first = codeBefore - 1;
      }
    }
    const spikes = statusAfter & ${SPIKE_BITS};
    if (spikes > 0.5) {
      hasState = 0;
      first = 32 - Math.clz32(spikes);
    }
    let high = 0;
    let x = [0, 0, 0, 0];
    if (hasState > 0.5) {
      high = states[((this.thread.x >> 4) << 4) | (this.thread.x & 7)];
      x = unpacked(high, states[((this.thread.x >> 4) << 4) | 8 | (this.thread.x & 7)]);
      const other = states[(((this.thread.x >> 4) ^ 1) << 4) | (this.thread.x & 7)];
      high = Math.max(Math.abs(high), Math.abs(other));
    }
    ${FIND_INPUT_EVENTS}
    const windowAt = this.constants.decaysAt + isH * this.constants.decayLength;
    const stepAt = windowAt + 4;
    const arrivalAt = windowAt + 8;
    let c0 = 0;
    let c1 = 0;
    let c2 = 0;
    let c3 = 0;
    let isLight = 0;
    ${addArrivals({
      isDone: 'isLight > 0.5',
      add: ADD_DECAYED,
      decide: `
        if (events < 0.5 && all <= ${LIGHT_SYNAPSES} && high < ${LIGHT_FLOAT_BELOW}) {
          isLight = 1;
        }`,
    })}
    if (isLight > 0.5) {
      x = decayedLimbs(x, ${tableLimbs('windowAt')}, c0, c1, c2, c3);
    } else {
      let eventSynapses = 0;
      if (isH < 0.5) {
        eventSynapses = ${INPUT_EVENT_SYNAPSES};
      }
      ${forEachStep(`
        if (step > first - 0.5) {
          x = decayedLimbs(x, ${tableLimbs('stepAt')}, ${NO_LIMBS});
          ${COUNT_EVENTS_OF_STEP}
          x = withSynapses(x, sums[k] + eventsOfStep * eventSynapses);
          x = inRange(x, ${MAX_TOP_LIMB});
        }`)}
    }
    if (isLow > 0.5) {
      return x[1] * ${LIMB_BASE} + x[0];
    }
    return x[3] * ${LIMB_BASE} + x[2];
  }
}`;

/** Writes [chunk of neurons][trial]: the number of neurons without a flag. */
export const unflaggedNeurons = `function unflaggedNeurons(statuses) {
  const chunk = this.thread.x >> this.constants.widthShift;
  const trial = this.thread.x & this.constants.trialBits;
  let unflagged = 0;
  for (let k = 0; k < ${FLAG_NEURONS}; k++) {
    const neuron = chunk * ${FLAG_NEURONS} + k;
    if (neuron < this.constants.neuronCount) {
      const status = Math.abs(statuses[(neuron << this.constants.widthShift) | trial]);
      if (status > 0.5) {
        unflagged = unflagged + 1 - ((status >> ${FLAG_SHIFT}) & 1);
      }
    }
  }
  return unflagged;
}`;
