/** npm run model:statistics: measures the cell-type statistics that a synthetic brain is sampled from. */
import { join } from 'node:path';
import { encodeStatistics } from '../compiler/statistics/statistics-files.js';
import { totalsOf } from '../compiler/statistics/statistics.js';
import { measureStatistics } from '../compiler/statistics/measure-statistics.js';
import { readTables } from '../compiler/tables.js';
import { runCommand } from './command.js';
import { writeWhole } from './write-whole.js';

await runCommand({
  name: 'model:statistics',
  summary: 'Measures cell-type statistics on the tables of a release, for model:compile --statistics.',
  options: {
    tables: { type: 'string', value: 'DIR', required: true, help: 'Directory with the five Codex tables.' },
    out: { type: 'string', value: 'DIR', required: true, help: 'Directory for the statistics.' },
    remark: {
      type: 'string',
      value: 'TEXT',
      help: 'A sentence on these tables; statistics and the brains sampled from them store it as provenance.',
    },
  },
  async run({ tables, out, remark }, _, progress) {
    const brain = await readTables(tables, progress);
    progress.begin('Grouping and counting the neurons', 0, 'items');
    const measured = measureStatistics(brain);
    const statistics =
      remark === undefined ? measured : { ...measured, provenance: [...measured.provenance, remark] };
    let bytes = 0;
    for (const [file, content] of encodeStatistics(statistics)) {
      progress.begin(`Writing ${file}`, 0, 'items');
      await writeWhole(join(out, file), content);
      bytes += content.length;
    }
    progress.end();
    const { groups, pairs, neurons, connections, synapses } = totalsOf(statistics);
    process.stdout.write(
      `${out}: ${groups} groups of ${neurons} neurons, ${pairs} pairs of groups with ${connections} ` +
        `connections and ${synapses} synapses, ${bytes} bytes\n`,
    );
  },
});
