import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { CodedError } from '../errors.js';
import type { ConnectomeMetadata } from './connectome.js';
import { type ConnectomeContent, encodeConnectome, openConnectome, openConnectomeWith } from './format.js';
import { FORMAT_VERSION, viewConnectome } from './sections.js';

const content = smallConnectome();
const file = encodeConnectome(content);
const RUNS = { seed: 783, numRuns: 500 };

function copy(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(file);
}

/** Gives altered bytes a matching digest, like another program that writes this format. */
function sealed(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const digest = createHash('sha256').update(bytes.subarray(0, 32)).update(bytes.subarray(64)).digest();
  bytes.set(digest, 32);
  return bytes;
}

function refusal(bytes: Uint8Array<ArrayBuffer>): string {
  try {
    openConnectome(bytes.buffer);
  } catch (error) {
    expect(error).toBeInstanceOf(CodedError);
    expect((error as CodedError).code).toBe('CONNECTOME_INVALID');
    return (error as CodedError).message;
  }
  return 'it was opened';
}

/** The message for a file with other content and a matching digest. */
function refusalOf(change: Partial<ConnectomeContent>): string {
  return refusal(Uint8Array.from(encodeConnectome({ ...content, ...change })));
}

function metadataWith(change: object): Partial<ConnectomeContent> {
  return { metadata: { ...content.metadata, ...change } as ConnectomeMetadata };
}

describe('a connectome file', () => {
  it('gives back the encoded connectome', () => {
    const opened = openConnectome(copy().buffer);
    expect(opened.metadata).toEqual(content.metadata);
    for (const name of [
      'rowStart',
      'targets',
      'synapseCounts',
      'signs',
      'typeIndices',
      'classIndices',
      'sides',
      'positionsNm',
      'positionEstimated',
    ] as const) {
      expect(opened[name]).toEqual(content[name]);
    }
    expect(content.neuronIds.map((_, i) => opened.neuronId(i))).toEqual(content.neuronIds);
    const populations = [
      ...content.metadata.stimuli.map(({ id }) => opened.stimulusNeurons(id)),
      ...content.metadata.channels.map(({ id }) => opened.channelNeurons(id)),
    ];
    expect(populations).toEqual(content.populations);
  });

  it('is the same bytes for the same content', () => {
    expect(Buffer.compare(encodeConnectome(smallConnectome()), file)).toBe(0);
  });

  it('can be opened from shared memory without a copy', () => {
    const shared = new SharedArrayBuffer(file.length);
    new Uint8Array(shared).set(file);
    const opened = openConnectome(shared);
    expect(opened.targets.buffer).toBe(shared);
    expect(opened.neuronId(3)).toBe(content.neuronIds[3]);
    const viewed = viewConnectome(shared);
    expect(viewed.targets.buffer).toBe(shared);
    expect([viewed.digest, viewed.metadata, viewed.neuronId(3)]).toEqual([
      opened.digest,
      opened.metadata,
      content.neuronIds[3],
    ]);
  });

  it('may have a digest of its content, which its provenance does not change', () => {
    const named = (change: Partial<ConnectomeContent>) =>
      encodeConnectome({ ...content, hasContentDigest: true, ...change });
    const [one, other] = [named({}), named(metadataWith({ provenance: ['Otherwise.'], sources: [] }))];
    expect(openConnectome(other.buffer).digest).toBe(openConnectome(one.buffer).digest);
    expect(viewConnectome(other.buffer).digest).toBe(openConnectome(one.buffer).digest);
    expect(openConnectome(named(metadataWith({ name: 'Another' })).buffer).digest).not.toBe(
      openConnectome(one.buffer).digest,
    );
    expect(refusalOf(metadataWith({ contentDigest: '0'.repeat(64) }))).toMatch(
      /its metadata gives the content digest 0{64}, found [0-9a-f]{64}/,
    );
  });

  it('may have probabilities of signs, which its digests cover', () => {
    const probabilities = Uint8Array.from({ length: 2 * content.neuronIds.length }, (_, i) => i % 128);
    const opened = (signProbabilities?: Uint8Array) =>
      openConnectome(
        encodeConnectome({
          ...content,
          hasContentDigest: true,
          ...(signProbabilities && { signProbabilities }),
        }).buffer,
      );
    expect(opened(probabilities).signProbabilities).toEqual(probabilities);
    expect(opened().signProbabilities).toBeUndefined();
    const others = [undefined, probabilities, probabilities.with(3, 9)];
    expect(new Set(others.map((each) => opened(each).digest)).size).toBe(3);
  });

  it('has a digest over every byte but the digest itself', () => {
    const opened = openConnectome(copy().buffer);
    expect(opened.digest).toBe(Buffer.from(sealed(copy()).subarray(32, 64)).toString('hex'));
  });
});

describe('a file that is hashed in another thread', () => {
  const hash = async (...parts: readonly (string | Uint8Array)[]) => {
    const joined = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
    return new Uint8Array(await crypto.subtle.digest('SHA-256', joined));
  };
  const named = encodeConnectome({ ...content, hasContentDigest: true });

  it('opens as without it', async () => {
    for (const bytes of [copy(), named]) {
      const opened = await openConnectomeWith(hash, bytes.buffer);
      expect(opened.digest).toBe(openConnectome(bytes.buffer).digest);
      expect(opened.targets).toEqual(content.targets);
    }
  });

  it.each([
    ['damaged', copy().with(100, file[100]! ^ 1)],
    ['cut off', copy().slice(0, -64)],
    ['named wrongly', encodeConnectome({ ...content, ...metadataWith({ contentDigest: '0'.repeat(64) }) })],
  ])('is refused if it is %s, in the same words', async (_, bytes) => {
    const message = refusal(bytes);
    expect(message).toMatch(/digest|length/);
    await expect(openConnectomeWith(hash, bytes.buffer)).rejects.toMatchObject({
      code: 'CONNECTOME_INVALID',
      message,
    });
  });
});

describe('a damaged file', () => {
  it.each<[string, Uint8Array<ArrayBuffer>, RegExp]>([
    ['nothing', new Uint8Array(0), /expected at least 64 bytes, found 0/],
    [
      'another kind of file',
      Uint8Array.from(Buffer.from('PK'.padEnd(100))),
      /expected it to begin with "NESCONN/,
    ],
    ['cut', copy().slice(0, -1), /gives a length of \d+ bytes, found \d+/],
    ['extended', Uint8Array.from([...file, 0]), /gives a length of \d+ bytes, found \d+/],
  ])('%s', (_, bytes, message) => {
    expect(refusal(bytes)).toMatch(message);
  });

  it('of another version', () => {
    const other = copy();
    other[8] = FORMAT_VERSION - 1;
    expect(refusal(sealed(other))).toMatch(
      /expected format version 2, found 1; compile it again, npm run model:compile -- --help says how/,
    );
  });

  it.each<[string, Partial<ConnectomeContent>, RegExp]>([
    [
      'a target beyond the last neuron',
      { targets: content.targets.with(0, 304) },
      /section targets, found 304 at 0/,
    ],
    [
      'targets that do not ascend',
      { targets: content.targets.with(1, 0) },
      /targets of neuron 0 to ascend, found 0 after/,
    ],
    [
      'probabilities of more than 1',
      { signProbabilities: new Uint8Array(2 * content.neuronIds.length).fill(128) },
      /sign probabilities of up to 255 for neuron 0, found 256/,
    ],
    [
      'probabilities of some neurons',
      { signProbabilities: new Uint8Array(3) },
      /section signProbabilities should have 608 elements, found 3/,
    ],
    [
      'a row that ends before it begins',
      { rowStart: content.rowStart.with(1, 9999) },
      /rowStart should rise/,
    ],
    [
      'too few rows',
      { rowStart: content.rowStart.slice(1) },
      /section rowStart should have 305 elements, found 304/,
    ],
    [
      'no synapses',
      { synapseCounts: content.synapseCounts.with(0, 0) },
      /from 1 and below 8192 in section synapseCounts, found 0 at 0/,
    ],
    [
      'too many synapses',
      { synapseCounts: content.synapseCounts.with(0, 8192) },
      /below 8192 in section synapseCounts/,
    ],
    [
      'another sum of synapses',
      metadataWith({ synapseCount: 7 }),
      /gives 7 synapses, its connections have \d+/,
    ],
    [
      'a sign of 2',
      { signs: content.signs.with(5, 2) },
      /values from -1 and below 2 in section signs, found 2 at 5/,
    ],
    [
      'a type that is not listed',
      { typeIndices: content.typeIndices.with(0, 99) },
      /section typeIndices, found 99 at 0/,
    ],
    [
      'a class that is not listed',
      { classIndices: content.classIndices.with(7, 3) },
      /section classIndices, found 3 at 7/,
    ],
    ['an unknown side', { sides: content.sides.with(0, 4) }, /section sides, found 4 at 0/],
    [
      'a population with a neuron twice',
      { populations: content.populations.with(0, new Uint32Array(12)) },
      /12 different neurons in the population sugar, found 1/,
    ],
    [
      'a population of another size',
      { populations: content.populations.with(0, Uint32Array.of(1)) },
      /population sugar, found 1 in a list of 1/,
    ],
    ['no neurons', metadataWith({ neuronCount: 0 }), /expected 1 to 262143 neurons, found 0/],
    [
      'metadata without a name',
      metadataWith({ name: undefined }),
      /in its metadata the document must have the member name/,
    ],
    [
      'an unknown sign rule',
      metadataWith({ signRule: 'mine' }),
      /in its metadata signRule must be one of predicted, corrected, fast, as given, got "mine"/,
    ],
    ['types that are no list', metadataWith({ types: {} }), /in its metadata types must be a list, got {}/],
    ['a type without a name', metadataWith({ types: [{}] }), /types\[0\] must have the member name/],
    [
      'a stimulus that is null',
      metadataWith({ stimuli: [null] }),
      /stimuli\[0\] must be a JSON object, got null/,
    ],
    [
      'provenance that is no text',
      metadataWith({ provenance: [null] }),
      /provenance\[0\] must be a string, got null/,
    ],
    [
      'transmitters that are no counts',
      metadataWith({ transmitterCounts: { ACH: '5' } }),
      /transmitterCounts\.ACH must be an integer from 0 to \d+, got "5"/,
    ],
    [
      'a selector that is no object',
      metadataWith({ channels: content.metadata.channels.map((each) => ({ ...each, selectors: ['LC4'] })) }),
      /channels\[0\]\.selectors\[0\] must be a JSON object, got "LC4"/,
    ],
    [
      'a stimulus without neurons',
      {
        ...metadataWith({ stimuli: content.metadata.stimuli.map((each) => ({ ...each, neuronCount: 0 })) }),
        populations: content.populations.map((list, k) =>
          k < content.metadata.stimuli.length ? new Uint32Array(0) : list,
        ),
      },
      /stimuli\[0\]\.neuronCount must be an integer from 1 to \d+, got 0/,
    ],
    [
      'a channel without neurons, whose rate nobody could say',
      {
        ...metadataWith({ channels: content.metadata.channels.map((each) => ({ ...each, neuronCount: 0 })) }),
        populations: content.populations.map((list, k) =>
          k < content.metadata.stimuli.length ? list : new Uint32Array(0),
        ),
      },
      /channels\[0\]\.neuronCount must be an integer from 1 to \d+, got 0/,
    ],
    [
      'a stimulus twice',
      metadataWith({ stimuli: content.metadata.stimuli.map((each) => ({ ...each, id: 'loom' })) }),
      /its metadata has the stimulus loom twice/,
    ],
    [
      'a channel whose name would have to be quoted',
      metadataWith({
        channels: content.metadata.channels.map((each, k) => ({ ...each, id: `Channel ${k}` })),
      }),
      /channels\[0\]\.id must be a string that matches \^\[a-z\]\[a-z0-9_\]\*\$, got "Channel 0"/,
    ],
    [
      'a nominal rate of 0',
      metadataWith({ stimuli: content.metadata.stimuli.map((each) => ({ ...each, nominalRateHz: 0 })) }),
      /stimuli\[0\]\.nominalRateHz must be a number above 0 and at most 1000, got 0/,
    ],
    [
      'a nominal rate above 1000 Hz',
      metadataWith({ stimuli: content.metadata.stimuli.map((each) => ({ ...each, nominalRateHz: 7500 })) }),
      /stimuli\[0\]\.nominalRateHz must be a number above 0 and at most 1000, got 7500/,
    ],
    [
      'a super-class for each neuron',
      metadataWith({
        classes: Array.from({ length: 1001 }, (_, at) => ({ superClass: `C${at}`, class: '', subClass: '' })),
      }),
      /expected at most 1000 super-classes, found 1001/,
    ],
    [
      'fewer synapses than it says',
      metadataWith({ minimumSynapses: 7000 }),
      /gives at least 7000 synapses, a connection has \d+/,
    ],
  ])('with %s', (_, change, message) => {
    expect(refusalOf(change)).toMatch(message);
  });

  it('with metadata that is no JSON', () => {
    const broken = copy();
    broken[Buffer.from(broken).indexOf('{"name"')] = 0xff;
    expect(refusal(sealed(broken))).toMatch(/its metadata is not JSON/);
  });

  it('is refused whichever bit is flipped', () => {
    fc.assert(
      fc.property(fc.nat(file.length - 1), fc.nat(7), (at, bit) => {
        const flipped = copy();
        flipped[at]! ^= 1 << bit;
        expect(refusal(flipped)).not.toBe('it was opened');
      }),
      RUNS,
    );
  });

  it('is refused wherever it is cut, and whatever is added', () => {
    fc.assert(
      fc.property(fc.nat(file.length - 1), (length) => {
        expect(refusal(copy().slice(0, length))).not.toBe('it was opened');
      }),
      RUNS,
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (more) => {
        expect(refusal(Uint8Array.from(Buffer.concat([file, more])))).not.toBe('it was opened');
      }),
      { ...RUNS, numRuns: 200 },
    );
  });

  it('never crashes the loader, even when its digest was made to match', () => {
    // A file that opens must also be usable: every neuron has an id, a type and connections within the file.
    let refused = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        (changes) => {
          const altered = copy();
          // Half of the changes hit the bytes that matter most: the header, the section table and the metadata.
          changes.forEach(([at, value], k) => (altered[k % 2 === 0 ? at % 3000 : at] = value));
          const outcome = refusal(sealed(altered));
          if (outcome !== 'it was opened') {
            refused += 1;
            return;
          }
          const opened = openConnectome(altered.buffer);
          const { typeIndices, metadata } = opened;
          const usable = Array.from(
            typeIndices,
            (type, i) =>
              opened.neuronId(i) +
              metadata.types[type]!.name +
              metadata.classes[opened.classIndices[i]!]!.class,
          );
          expect(usable).toHaveLength(opened.neuronCount);
        },
      ),
      RUNS,
    );
    expect(refused).toBeGreaterThan(RUNS.numRuns / 4);
  });
});
