/**
 * Tables in the form of MaleCNS 1.0, of its size: annotations, transmitters, and 152 million weights of which 25.6 million
 * lie between neurons, in Feather compressed with LZ4. Numbers of partners are spread over the neurons as in a
 * connectome that is given; who connects with whom is random.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  compressionRegistry,
  CompressionType,
  Field,
  Int64,
  List,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { AsyncByteQueue } from 'apache-arrow/io/stream';
import { PHILOX_STREAM, PhiloxSequence } from '../dist/engine/stimulus/philox.js';

const WORD = 2 ** 32;
const ROWS_PER_BATCH = 65_536;
const FIRST_ID = 10_001;
/** More partners of one neuron would take long to draw: each has to be another. */
const MAX_PARTNERS = 1500;
const FIRST_FRAGMENT = 2_000_000;
const FRAGMENTS = 1_500_000_000;
/** Some 24.4 % of the pairs between neurons have 5 synapses or more and 10.8 % have 10 or more, as in the data set. */
const WEIGHT_EXPONENT = -1 / 0.88;
/** With this bound the mean is that of the data set, 4.9, of which few pairs have up to 2,591. */
const MAX_WEIGHT = 40;
const TYPES = 11_751;
/** With the shares of the data set, in which fewer neurons inhibit, a random wiring feeds itself. */
const TRANSMITTERS = [...Array(54).fill('acetylcholine'), ...Array(45).fill('gaba'), 'dopamine'];

/**
 * @param {string} dir
 * @param {{neurons: number, pairs: number, rows: number, seed: number, like: {outDegrees: Uint32Array, inDegrees: Uint32Array}}} size
 */
export function writeMaleCns(dir, { neurons, pairs, rows, seed, like }) {
  compressionRegistry.set(CompressionType.LZ4_FRAME, { encode: lz4Frame });
  const random = new PhiloxSequence(seed, 0, PHILOX_STREAM.shuffle);
  const unit = () => random.nextUint32() / WORD;
  const idOf = (i) => BigInt(FIRST_ID + 7 * i);

  const bodies = Array.from({ length: neurons }, (_, i) => i);
  const any = (list) => list[Math.floor(unit() * list.length)];
  const text = (of) => [new Utf8(), bodies.map(of)];
  writeTable(join(dir, 'body-annotations-male-cns-v1.0-minconf-0.5.feather'), {
    bodyId: [new Int64(), bodies.map(idOf)],
    superclass: text(() =>
      any(['cb_intrinsic', 'ol_intrinsic', 'vnc_intrinsic', 'descending_neuron', 'cb_sensory']),
    ),
    class: text(() => null),
    subclass: text(() => null),
    type: text((i) => `T${i % TYPES}`),
    somaSide: text((i) => (i % 2 === 0 ? 'L' : 'R')),
    rootSide: text(() => null),
    somaLocation: [
      new List(new Field('item', new Int64(), true)),
      bodies.map(() => [0, 1, 2].map(() => BigInt(Math.floor(unit() * 90_000)))),
    ],
    flywireType: text((i) => `T${i % TYPES}`),
  });
  writeTable(join(dir, 'body-neurotransmitters-male-cns-v1.0.feather'), {
    body: [new Int64(), bodies.map(idOf)],
    consensus_nt: text(() => any(TRANSMITTERS)),
  });

  const { pre, post, weight } = pairsLike(like, neurons, pairs, unit);
  // The heaviest first, as in the data set; fragments have few synapses.
  const byWeight = new Uint32Array(pairs);
  const starts = new Uint32Array(MAX_WEIGHT + 2);
  for (const each of weight) starts[MAX_WEIGHT - each + 1]++;
  for (let w = 0; w < MAX_WEIGHT; w++) starts[w + 1] += starts[w];
  for (let k = 0; k < pairs; k++) byWeight[starts[MAX_WEIGHT - weight[k]]++] = k;
  const fragmentShare = (rows - pairs) / rows;
  let next = 0;
  let left = rows;
  const columns = ['body_pre', 'body_post', 'weight'];
  writeBatches(join(dir, 'connectome-weights-male-cns-v1.0-minconf-0.5.feather'), columns, () => {
    const count = Math.min(ROWS_PER_BATCH, left);
    const [from, to, of] = columns.map(() => new BigInt64Array(count));
    for (let row = 0; row < count; row++, left--) {
      const light =
        next === pairs ||
        (pairs - next < left && weight[byWeight[next]] < 5 && unit() < fragmentShare * 1.25);
      if (light) {
        from[row] = idOf(Math.floor(unit() * neurons));
        to[row] = BigInt(FIRST_FRAGMENT + Math.floor(unit() * FRAGMENTS));
        of[row] = unit() < 0.7 ? 1n : 2n;
      } else {
        const k = byWeight[next++];
        from[row] = idOf(pre[k]);
        to[row] = idOf(post[k]);
        of[row] = BigInt(weight[k]);
      }
    }
    return count === 0 ? undefined : [from, to, of];
  });
}

/** Pairs of which no two are the same, with numbers of outputs and inputs in the proportions of those that are given. */
function pairsLike({ outDegrees, inDegrees }, neurons, pairs, unit) {
  const shares = (degrees) => {
    const sums = new Float64Array(neurons);
    let sum = 0;
    for (let i = 0; i < neurons; i++)
      sums[i] = sum += Math.min(degrees[i % degrees.length], MAX_PARTNERS) + 0.5;
    return sums;
  };
  const outputs = shares(outDegrees);
  const inputs = shares(inDegrees);
  const drawn = () => {
    const at = unit() * inputs[neurons - 1];
    let low = 0;
    for (let high = neurons - 1; low < high;) {
      const middle = (low + high) >> 1;
      if (inputs[middle] > at) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  const [pre, post] = [new Uint32Array(pairs), new Uint32Array(pairs)];
  const weight = new Uint16Array(pairs);
  const lastSource = new Int32Array(neurons).fill(-1);
  for (let neuron = 0, k = 0; neuron < neurons; neuron++) {
    const end = neuron === neurons - 1 ? pairs : Math.floor((outputs[neuron] / outputs[neurons - 1]) * pairs);
    while (k < end) {
      const target = drawn();
      if (lastSource[target] === neuron) continue;
      lastSource[target] = neuron;
      pre[k] = neuron;
      post[k] = target;
      weight[k++] = Math.min((1 - unit()) ** WEIGHT_EXPONENT, MAX_WEIGHT);
    }
  }
  return { pre, post, weight };
}

function writeTable(path, columns) {
  const fields = Object.entries(columns).map(([name, [type]]) => new Field(name, type, true));
  const vectors = Object.values(columns).map(([type, values]) => vectorFromArray(values, type));
  let row = 0;
  write(path, fields, () => {
    if (row >= vectors[0].length) return undefined;
    const end = Math.min(row + ROWS_PER_BATCH, vectors[0].length);
    const children = vectors.map((vector) => vector.slice(row, end).data[0]);
    const length = end - row;
    row = end;
    return { length, children };
  });
}

function writeBatches(path, names, next) {
  const type = new Int64();
  write(
    path,
    names.map((name) => new Field(name, type, true)),
    () => {
      const values = next();
      if (values === undefined) return undefined;
      const { length } = values[0];
      return { length, children: values.map((data) => makeData({ type, length, nullCount: 0, data })) };
    },
  );
}

/** Writes batch by batch: the whole table would not fit into memory as Arrow has it. */
function write(path, fields, next) {
  const schema = new Schema(fields);
  const writer = new RecordBatchFileWriter({ compressionType: CompressionType.LZ4_FRAME });
  const file = openSync(path, 'w');
  writer.reset(new FileSink(file), schema);
  for (let batch; (batch = next()) !== undefined;) {
    writer.write(
      new RecordBatch(
        schema,
        makeData({ type: new Struct(fields), length: batch.length, nullCount: 0, children: batch.children }),
      ),
    );
  }
  writer.finish();
  closeSync(file);
}

class FileSink extends AsyncByteQueue {
  constructor(file) {
    super();
    this.file = file;
  }

  write(piece) {
    writeSync(this.file, piece);
  }
}

const LZ4_HEADER = Uint8Array.of(0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0xc0);
const BLOCK_BYTES = 1 << 16;
const TABLE_BITS = 14;
const seen = new Int32Array(1 << TABLE_BITS);

/** A fast compressor, such as LZ4's own: one candidate for each hash of four bytes. */
function lz4Frame(data) {
  const out = new Uint8Array(LZ4_HEADER.length + data.length + data.length / 200 + 64);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  out.set(LZ4_HEADER);
  seen.fill(-1);
  let to = LZ4_HEADER.length;
  const put = (value) => {
    new DataView(out.buffer).setUint32(to, value, true);
  };
  for (let begin = 0; begin < data.length; begin += BLOCK_BYTES) {
    const end = Math.min(begin + BLOCK_BYTES, data.length);
    const lengthAt = to;
    to += 4;
    let literals = begin;
    const rest = (length) => {
      for (let left = length - 15; left >= 0; left -= 255) out[to++] = Math.min(left, 255);
    };
    const sequence = (at, offset, match) => {
      out[to++] = (Math.min(at - literals, 15) << 4) | (offset === 0 ? 0 : Math.min(match - 4, 15));
      rest(at - literals);
      out.set(data.subarray(literals, at), to);
      to += at - literals;
      if (offset === 0) return;
      out[to++] = offset & 255;
      out[to++] = offset >> 8;
      rest(match - 4);
    };
    for (let at = begin; at < end - 12;) {
      const key = view.getUint32(at, true);
      const slot = Math.imul(key, 0x9e3779b1) >>> (32 - TABLE_BITS);
      const earlier = seen[slot];
      seen[slot] = at;
      if (earlier < 0 || at - earlier > 0xffff || view.getUint32(earlier, true) !== key) {
        at++;
        continue;
      }
      let match = 4;
      while (at + match < end - 5 && data[earlier + match] === data[at + match]) match++;
      sequence(at, at - earlier, match);
      at += match;
      literals = at;
    }
    sequence(end, 0, 0);
    const last = to;
    to = lengthAt;
    put(last - lengthAt - 4);
    to = last;
  }
  put(0);
  return out.subarray(0, to + 4);
}
