/** npm run model:figures: measures the figures by cell type that a brain can be drawn from. */
import { join } from 'node:path';
import { encodeFigures } from '../compiler/figures/figure-files.js';
import { totalsOf } from '../compiler/figures/figures.js';
import { measureFigures } from '../compiler/figures/measure-figures.js';
import { readTables } from '../compiler/tables.js';
import { runCommand } from './command.js';
import { writeWhole } from './write-whole.js';

await runCommand({
  name: 'model:figures',
  summary: 'Aggregates the tables of a release into figures by cell type.',
  options: {
    tables: { type: 'string', value: 'DIR', required: true, help: 'Directory with the five Codex tables.' },
    out: { type: 'string', value: 'DIR', required: true, help: 'Directory to write the figures to.' },
    remark: {
      type: 'string',
      value: 'TEXT',
      help: 'A sentence on these tables, kept with the figures and with each brain drawn from them.',
    },
  },
  async run({ tables, out, remark }, _, progress) {
    const brain = await readTables(tables, progress);
    progress.begin('Grouping the neurons and counting', 0, 'items');
    const measured = measureFigures(brain);
    const figures =
      remark === undefined ? measured : { ...measured, provenance: [...measured.provenance, remark] };
    let bytes = 0;
    for (const [file, content] of encodeFigures(figures)) {
      progress.begin(`Writing ${file}`, 0, 'items');
      await writeWhole(join(out, file), content);
      bytes += content.length;
    }
    progress.end();
    const { groups, pairs, neurons, connections, synapses } = totalsOf(figures);
    process.stdout.write(
      `${out}: ${groups} groups of ${neurons} neurons, ${pairs} pairs of groups with ${connections} ` +
        `connections and ${synapses} synapses, ${bytes} bytes\n`,
    );
  },
});
