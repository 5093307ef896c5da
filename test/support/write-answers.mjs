// Digests of the answers, and from the events, that come on stdin as JSON; written by the build output under any
// version of Node. Argument: the connectome file.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { answerWriter } from '../../dist/experiments/formats/answer-writer.js';
import { openConnectome } from '../../dist/engine/connectome/format.js';

const connectome = openConnectome(Uint8Array.from(readFileSync(process.argv[2])).buffer);
const ARRAYS = { trials: Uint8Array, steps: Uint16Array, neurons: Uint32Array };
/** JSON makes an object of a typed array. */
const { answers, events } = JSON.parse(readFileSync(0, 'utf8'), (_, value) => {
  const arrays =
    value?.column === undefined
      ? ARRAYS
      : { values: value.column.type === 'label' ? Uint8Array : Float64Array };
  return Object.keys(arrays).every((name) => value?.[name] !== undefined)
    ? Object.fromEntries(
        Object.entries(value).map(([name, member]) => [
          name,
          arrays[name] ? arrays[name].from(Object.values(member)) : member,
        ]),
      )
    : value;
});
const digests = [];
for (const { format, table } of answers) {
  const digest = createHash('sha256');
  const writer = await answerWriter(format, { connectome, experiment: events[0].head.experiment, table });
  for (const event of events) for (const piece of writer.write(event)) digest.update(piece);
  digests.push(digest.digest('hex'));
}
console.log(JSON.stringify(digests));
