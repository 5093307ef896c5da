/** Ends a run with the skipped tests, whose names have the missing requirements, then one plain count. */
export default class SummaryReporter {
  onRunComplete(
    _contexts,
    { testResults, numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites },
  ) {
    const skipped = new Set(
      testResults
        .flatMap((file) => file.testResults)
        .filter(({ status }) => status === 'pending')
        .map(({ ancestorTitles, title }) => ancestorTitles[0] ?? title),
    );
    for (const name of skipped) console.log(`skipped: ${name}`);
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    console.log(`${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped`);
  }
}
