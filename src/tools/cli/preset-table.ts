/** Formats a run of version 1 as text in 80 columns: numbers with bars. */
import type { DriveRun, FullRun } from '#client';
import { CHANNEL_KIND_LABELS, CHANNEL_KINDS } from '../../engine/connectome/populations.js';
import { bar, fitted, linesText } from './text.js';

/** The body of an answer; members that only view=full has may be missing. */
export type PresetRun = DriveRun & Partial<FullRun>;

export interface PresetModel {
  readonly name: string;
  readonly channels: readonly { readonly id: string; readonly kind: string }[];
}

const NAME_WIDTH = 15;
const BAR_WIDTH = 36;
const TYPE_BAR_WIDTH = 11;
const SHOWN_TYPES = 10;

export function presetTable(run: PresetRun, model: PresetModel): string {
  const { id, spikes, channels, drive, duration_ms: durationMs } = run;
  const scale = Math.max(...Object.values(channels));
  // Grouped by kind, so that readers do not mistake a cue for an action.
  const channelLines = CHANNEL_KINDS.flatMap((kind) => [
    `${CHANNEL_KIND_LABELS[kind]} (mean rate, Hz)`,
    ...model.channels
      .filter((channel) => channel.kind === kind)
      .map(({ id: channel }) => {
        const rateHz = channels[channel]!;
        return row(channel, rateHz.toFixed(2), bar(rateHz, scale, BAR_WIDTH));
      }),
    '',
  ]);
  return linesText([
    model.name,
    '',
    `${run.stimulus}: ${durationMs} ms, intensity ${run.intensity}, seed ${run.seed}`,
    `  ${spikes.total} spikes of ${spikes.responding_neurons} neurons; ${spikes.stimulated_neurons} are stimulated`,
    `  model ${run.model}`,
    `  run ${id}`,
    '',
    ...channelLines,
    'Drives (engineered from the channels for games and displays; no biology)',
    ...Object.entries(drive).map(([name, value]) => row(name, value.toFixed(4), signedBar(value))),
    ...typeTable(run),
  ]);
}

function row(name: string, value: string, drawn: string): string {
  return `  ${name.padEnd(NAME_WIDTH)} ${value.padStart(8)} ${drawn}`;
}

function typeTable({ top_types: types = [] }: PresetRun): string[] {
  if (types.length === 0) return [];
  const shown = types.slice(0, SHOWN_TYPES);
  const scale = Math.max(...shown.map(({ spikes }) => spikes));
  const line = (type: string, superClass: string, responding: string, rate: string, spikes: string) =>
    `  ${fitted(type, 17)} ${fitted(superClass, 17)} ${responding.padStart(11)} ${rate.padStart(8)} ${spikes.padStart(7)} `;
  return [
    '',
    'Most active cell types (* stimulated)',
    line('type', 'super class', 'responding', 'Hz', 'spikes'),
    ...shown.map(
      (top) =>
        line(
          top.type + (top.stimulated > 0 ? ' *' : ''),
          top.super_class,
          `${top.responding} of ${top.neurons}`,
          top.rate_hz.toFixed(2),
          String(top.spikes),
        ) + bar(top.spikes, scale, TYPE_BAR_WIDTH),
    ),
  ];
}

/** The bar of a drive on a scale from 0 to 1. A negative drive has a mark that points left before its bar. */
function signedBar(value: number): string {
  return value < 0 ? `◂${bar(-value, 1, BAR_WIDTH - 1)}` : bar(value, 1, BAR_WIDTH);
}
