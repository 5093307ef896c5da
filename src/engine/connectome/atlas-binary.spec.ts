import { smallConnectome } from '../../../test/support/small-connectome.js';
import { POSITION_STEPS, scaledPositions } from './atlas.js';
import { decodeAtlas, encodeAtlas, firstPartLength, mapOf } from './atlas-binary.js';
import { encodeConnectome, openConnectome } from './format.js';

describe('the binary atlas', () => {
  const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer);
  const { buffer } = encodeAtlas(connectome);
  const scaled = scaledPositions(connectome);
  const whole = decodeAtlas(buffer);
  const positionOf = ({ positions }: typeof whole, neuron: number) => [
    ...positions.subarray(3 * neuron, 3 * neuron + 3),
  ];

  it('has of each neuron its place, type and side', () => {
    expect(whole.isWhole).toBe(true);
    expect(whole.types).toEqual(
      connectome.metadata.types.map(({ superClass, name }) => ({ superClass, name })),
    );
    expect([...whole.typeIndices]).toEqual([...connectome.typeIndices]);
    expect([...whole.sides]).toEqual([...connectome.sides]);
    expect([...whole.estimated]).toEqual([...connectome.positionEstimated]);
    whole.positions.forEach((value, at) =>
      expect(Math.abs(value - scaled[at]! / POSITION_STEPS)).toBeLessThan(0.5 / 4095 + 1e-6),
    );
  });

  it('is drawn of its first part: the others have the position of a neuron of their side', () => {
    const length = firstPartLength(buffer.slice(0, 32))!;
    const first = decodeAtlas(buffer.slice(0, length));
    expect(first.isWhole).toBe(false);
    expect([...first.typeIndices]).toEqual([...whole.typeIndices]);
    expect(first.types.map(({ superClass }) => superClass)).toEqual(
      whole.types.map(({ superClass }) => superClass),
    );
    const neurons = [...first.sides.keys()];
    const known = neurons.filter((neuron) => neuron % 11 === 0);
    for (const neuron of known) expect(positionOf(first, neuron)).toEqual(positionOf(whole, neuron));
    const others = neurons.filter((neuron) => neuron % 11 !== 0);
    const onTheirSide = others.filter((neuron) =>
      known.some(
        (each) =>
          first.sides[each] === first.sides[neuron] &&
          `${positionOf(first, each)}` === `${positionOf(first, neuron)}`,
      ),
    );
    expect(onTheirSide.length).toBeGreaterThan(0.9 * others.length);
  });

  it('is a map with the names of types and the positions of its first part', () => {
    const map = mapOf(new Uint8Array(buffer));
    const first = decodeAtlas(buffer.slice(0, firstPartLength(buffer)));
    expect(decodeAtlas(map.buffer)).toEqual({ ...first, types: whole.types });
    expect(first.types).not.toEqual(whole.types);
    expect(map.length).toBeLessThan(0.6 * buffer.byteLength);
  });

  it('is refused if it is too short, of another version or something else', () => {
    const length = firstPartLength(buffer)!;
    expect(firstPartLength(buffer.slice(0, 31))).toBeUndefined();
    expect(() => decodeAtlas(buffer.slice(0, length - 1))).toThrow(
      `Expected ${buffer.byteLength} bytes of atlas, found ${length - 1}.`,
    );
    const other = buffer.slice();
    new DataView(other).setUint32(8, 99, true);
    expect(() => decodeAtlas(other)).toThrow('of the atlas, found 99.');
    expect(() => decodeAtlas(new TextEncoder().encode('<html>').buffer)).toThrow('found "<html>".');
  });
});
