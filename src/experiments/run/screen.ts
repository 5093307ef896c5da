/** Collects the comparisons of a screen: every group of every condition is a test against matched controls. */
import type { AnsweredCondition, ScreenResult } from '../document/result.js';
import { MAX_Q } from '../kinds/controls.js';
import type { PlannedReport } from '../kinds/report-kind.js';
import type { RateGroup } from '../kinds/reports/rate.js';
import type { GroupResults } from '../kinds/result-rows.js';

export class Screen {
  /** `ofAll` is the denominator of p. */
  readonly #tests: { readonly test: Omit<ScreenResult['found'][number], 'q'>; readonly ofAll: number }[] = [];

  /** @param reports those that are compared with controls */
  add(
    { index, parameters, reports: answered }: AnsweredCondition,
    reports: readonly Pick<PlannedReport, 'name'>[],
  ): void {
    for (const { name: report } of reports) {
      for (const { neurons: _, control, ...group } of answered[
        report
      ] as GroupResults as Iterable<RateGroup>) {
        if (control?.p == null) continue;
        const labels = Object.entries(group).filter(
          (entry): entry is [string, string] => typeof entry[1] === 'string',
        );
        const test = { index, parameters, report, group: Object.fromEntries(labels), p: control.p };
        this.#tests.push({ test, ofAll: 1 + (control.compared ?? control.values.length) });
      }
    }
  }

  /**
   * The tests with a small q, after Benjamini and Hochberg (1995) over all tests; the lowest p first. q is a quotient of
   * integers, as in falseDiscoveryRates, so 3 of 3 tests with p = 1/20 have a q of 0.05 and not of 0.05000000000000001.
   */
  result(): ScreenResult {
    const tests = this.#tests.toSorted(({ test: a }, { test: b }) => a.p - b.p || a.index - b.index);
    let lowestQ = 1;
    const found = tests.toReversed().map(({ test, ofAll }, at) => {
      const rank = Math.round(test.p * ofAll);
      lowestQ = Math.min(lowestQ, (rank * tests.length) / (ofAll * (tests.length - at)));
      return { ...test, q: lowestQ };
    });
    return { tests: tests.length, found: found.reverse().filter(({ q }) => q <= MAX_Q) };
  }
}
