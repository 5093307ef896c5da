/** Activity of cell types in the visible runs, for the table of the most active ones. */
import type { TopType } from './service/client.js';
import type { CompactAtlas } from '../../src/engine/connectome/atlas-binary.js';
import type { TypeActivity, TypeRow } from './plots/type-table.js';
import { labelOfType } from './selection.js';
import type { Run } from './service/run-result.js';

const keyOf = (type: string, superClass: string): string => `${superClass}\t${type}`;

/**
 * The most active types of either run, by spikes of the run, then of the kept run. The service names twenty types of
 * each run. Their activity in the other run is counted here, and not known until the atlas is there.
 */
export function typeRowsOf(run: Run, kept: Run | undefined, atlas: CompactAtlas | undefined): TypeRow[] {
  const top = (of: Run | undefined): Map<string, TopType> =>
    new Map((of?.response.top_types ?? []).map((type) => [keyOf(type.type, type.super_class), type]));
  const [runTop, keptTop] = [top(run), top(kept)];
  const counted = [countedBy(run, atlas), countedBy(kept, atlas)] as const;
  const rows = [...new Map([...keptTop, ...runTop])].map(
    ([key, { type, super_class, neurons }]): TypeRow => ({
      type,
      superClass: super_class,
      neurons,
      run: runTop.get(key) ?? counted[0](key, neurons),
      kept: keptTop.get(key) ?? counted[1](key, neurons),
      stimulated: runTop.get(key)?.stimulated ?? keptTop.get(key)?.stimulated,
    }),
  );
  const spikes = (activity: TypeActivity | undefined): number => activity?.spikes ?? 0;
  return rows.sort(
    (a, b) =>
      spikes(b.run) - spikes(a.run) ||
      spikes(b.kept) - spikes(a.kept) ||
      // The service orders ties in this way, independent of the locale.
      Number(a.type > b.type) - Number(a.type < b.type),
  );
}

const NOTHING = { spikes: 0, responding: 0 };

function countedBy(
  run: Run | undefined,
  atlas: CompactAtlas | undefined,
): (key: string, neurons: number) => TypeActivity | undefined {
  if (run === undefined || atlas === undefined) return () => undefined;
  const activities = new Map<string, { spikes: number; responding: number }>();
  for (const [neuron, count] of run.counts) {
    const type = atlas.types[atlas.typeIndices[neuron]!]!;
    const key = keyOf(labelOfType(type), type.superClass);
    const { spikes, responding } = activities.get(key) ?? NOTHING;
    activities.set(key, { spikes: spikes + count, responding: responding + 1 });
  }
  return (key, neurons) => {
    const { spikes, responding } = activities.get(key) ?? NOTHING;
    const rateHz = spikes / neurons / (run.response.duration_ms / 1000);
    return { spikes, responding, rate_hz: Math.round(100 * rateHz) / 100 };
  };
}
