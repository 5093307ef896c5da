import { ProgressLine } from './progress.js';

/** A progress line with a clock that tests set; `written` collects its output. */
function line(isTTY: boolean, columns = 80) {
  const written: string[] = [];
  let nowMs = 0;
  const progress = new ProgressLine(
    { isTTY, columns, write: (text: string) => written.push(text) },
    () => nowMs,
  );
  return { progress, written, at: (ms: number) => (nowMs = ms) };
}

const ERASE = '\r\u001b[2K';

describe('progress in a log', () => {
  it('is a line for each step, and one every ten seconds', () => {
    const { progress, written, at } = line(false);
    progress.begin('Reading a.csv.gz', 200e6, 'bytes');
    at(9_000);
    progress.reached(45e6);
    at(10_000);
    progress.reached(50e6);
    at(11_000);
    progress.reached(55e6);
    progress.note('It was there already.');
    progress.begin('Writing', 0, 'items');
    progress.end();
    expect(written).toEqual([
      'Reading a.csv.gz\n',
      'Reading a.csv.gz: 25 % of 200.0 MB, 5.0 MB/s, 30 s left\n',
      'It was there already.\n',
      'Writing\n',
    ]);
  });
});

describe('progress on a terminal', () => {
  it('is one line that is written anew ten times a second at most', () => {
    const { progress, written, at } = line(true);
    progress.begin('Running', 10, 'items');
    progress.reached(1);
    at(50);
    progress.reached(2);
    at(2_000);
    progress.reached(4);
    progress.end();
    expect(written).toEqual(['Running …', `${ERASE}Running: 40 % of 10, 3 s left`, ERASE]);
  });

  it('shows the rest that it is told, if it is told', () => {
    const { progress, written, at } = line(true);
    progress.begin('Running', 10, 'items');
    at(2_000);
    progress.reached(4, 10, 61);
    progress.end();
    expect(written).toEqual(['Running …', `${ERASE}Running: 40 % of 10, 1 min 1 s left`, ERASE]);
  });

  it('makes way for a note, and keeps the clock of the step', () => {
    const { progress, written, at } = line(true);
    progress.begin('Running', 100, 'items');
    at(10_000);
    progress.reached(20);
    at(30_000);
    progress.note('Waiting 20 s.');
    at(50_000);
    progress.reached(25);
    progress.end();
    // One run in two seconds, waiting included.
    expect(written).toEqual([
      'Running …',
      `${ERASE}Running: 20 % of 100, 40 s left`,
      `${ERASE}Waiting 20 s.\nRunning: 20 % of 100, 2 min 0 s left`,
      `${ERASE}Running: 25 % of 100, 2 min 30 s left`,
      ERASE,
    ]);
  });

  it('does not change a note if no step is under way', () => {
    const { progress, written } = line(true);
    progress.note('Waiting 20 s.');
    progress.end();
    expect(written).toEqual(['Waiting 20 s.\n']);
  });

  it('never fills the line, which the terminal would wrap', () => {
    const { progress, written } = line(true, 10);
    progress.begin('A step with a long name', 0, 'bytes');
    expect(written).toEqual(['A step wi']);
  });
});

it('shows the work done if nobody knows the total', () => {
  const { progress, written, at } = line(false);
  progress.begin('Downloading', 0, 'bytes');
  at(20_000);
  progress.reached(2.5e6);
  expect(written[1]).toBe('Downloading: 2.5 MB, 0.1 MB/s\n');
});

it('says minutes when there are some', () => {
  const { progress, written, at } = line(false);
  progress.begin('Downloading', 100, 'items');
  at(10_000);
  progress.reached(10);
  expect(written[1]).toBe('Downloading: 10 % of 100, 1 min 30 s left\n');
});

it('leaves earlier work out of the rate', () => {
  const { progress, written, at } = line(false);
  progress.begin('Downloading', 100e6, 'bytes', 50e6);
  at(10_000);
  progress.reached(60e6);
  expect(written[1]).toBe('Downloading: 60 % of 100.0 MB, 1.0 MB/s, 40 s left\n');
});
