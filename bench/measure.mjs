/** Functions that the benchmarks share: how a time is taken and summed up. */

import { CodedError, describeValue } from '../dist/engine/errors.js';

/** @returns {[milliseconds: number, result: T]} @template T @param {() => T} body */
export function timed(body) {
  const begin = process.hrtime.bigint();
  const result = body();
  return [Number(process.hrtime.bigint() - begin) / 1e6, result];
}

/** The value below which a share of the values lies, interpolated between two of them. @param {number[]} values @param {number} share */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}

/** @param {number[]} values */
export function median(values) {
  return percentile(values, 0.5);
}

/** @param {number} value @param {number} digits */
export function rounded(value, digits) {
  return Number(value.toFixed(digits));
}

/** Prints rows of equal keys as a table, or as JSON. @param {Record<string, unknown>[]} rows */
export function printRows(rows, asJson) {
  if (asJson) {
    console.log(JSON.stringify(rows));
    return;
  }
  const keys = Object.keys(rows[0]);
  const lines = [keys, ...rows.map((row) => keys.map((key) => String(row[key])))];
  const widths = keys.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  for (const line of lines) console.log(line.map((cell, column) => cell.padStart(widths[column])).join('  '));
}

/** The value of an option that counts something. @param {string} option @param {string} text @param {number} maximum */
export function wholeNumber(option, text, maximum) {
  const value = Number(text);
  if (!/^[0-9]+$/.test(text) || value < 1 || value > maximum) {
    throw new CodedError(
      'USAGE',
      `--${option} takes whole numbers from 1 to ${maximum}, not ${describeValue(text)}.`,
    );
  }
  return value;
}
