/** npm run model:statistics measures cell-type statistics. model:compile samples synthetic brains from them. */
import { join } from 'node:path';
import { encodeStatistics } from '../statistics/statistics-files.js';
import { totalsOf } from '../statistics/statistics.js';
import { measureStatistics } from '../statistics/measure-statistics.js';
import { readTables } from '../compiler/tables.js';
import { defineCommand, text } from './command.js';
import { writeAtomically } from './atomic-file.js';

export const command = defineCommand({
  name: 'model:statistics',
  summary: 'Measures cell-type statistics on the tables of a release, for model:compile --statistics.',
  options: {
    tables: text('DIR', 'Directory with the five Codex tables.', { required: true }),
    out: text('DIR', 'Directory for the statistics.', { required: true }),
    remark: text(
      'TEXT',
      'A sentence on these tables; statistics and the brains sampled from them store it as provenance.',
    ),
  },
  async run({ tables, out, remark }, _, { print, progress }) {
    const brain = await readTables(tables, progress);
    progress.begin('Grouping and counting the neurons', 0, 'items');
    const measured = measureStatistics(brain);
    const provenance = [...measured.provenance, ...(remark === undefined ? [] : [remark])];
    const statistics = { ...measured, provenance };
    let bytes = 0;
    for (const [name, content] of encodeStatistics(statistics)) {
      progress.begin(`Writing ${name}`, 0, 'items');
      await writeAtomically(join(out, name), content);
      bytes += content.length;
    }
    const { groups, pairs, neurons, connections, synapses } = totalsOf(statistics);
    print(
      `${out}: ${groups} groups of ${neurons} neurons, ${pairs} pairs of groups with ${connections} ` +
        `connections and ${synapses} synapses, ${bytes} bytes\n`,
    );
  },
});
