import { DraftHistory } from '../../clients/pages/laboratory/draft-history.js';

it('goes back and forth, and forgets undone changes after another change', () => {
  const history = new DraftHistory();
  expect([history.undo(), history.redo()]).toEqual([undefined, undefined]);
  for (const trials of [1, 2, 3]) history.take({ trials });
  // An equal document is no step.
  history.take({ trials: 3 });
  expect([history.undo(), history.undo(), history.undo()]).toEqual([{ trials: 2 }, { trials: 1 }, undefined]);
  expect(history.redo()).toEqual({ trials: 2 });
  history.take({ trials: 9 });
  expect(history.canRedo).toBe(false);
  expect(history.undo()).toEqual({ trials: 2 });
});

it('counts the changes of a control as one until it is left', () => {
  const history = new DraftHistory();
  history.take({});
  for (const seed of [1, 12, 123]) history.take({ seed }, 'seed');
  history.endChange();
  for (const seed of [1234, 12345]) history.take({ seed }, 'seed');
  expect([history.undo(), history.undo(), history.undo()]).toEqual([{ seed: 123 }, {}, undefined]);
});

it('keeps the last fifty documents', () => {
  const history = new DraftHistory();
  for (let seed = 1; seed <= 60; seed++) history.take({ seed });
  let last: unknown;
  for (let document = history.undo(); document !== undefined; document = history.undo()) last = document;
  expect(last).toEqual({ seed: 11 });
});
