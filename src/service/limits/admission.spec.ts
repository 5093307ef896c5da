import { readEnvironment } from '../config/environment.js';
import { Admission } from './admission.js';
import { Limits } from './limits.js';

it('derives limits from those that are given, and keeps those that are given', () => {
  const environment = readEnvironment({ EXPERIMENTS_AT_ONCE: '8' });
  const { waitingDocuments, waitingDocumentsPerClient } = new Limits(environment, {
    experimentsPerClient: 3,
  });
  expect([waitingDocuments, waitingDocumentsPerClient]).toEqual([64, 24]);
  expect(new Limits(environment, { waitingDocuments: 5 }).waitingDocuments).toBe(5);
});

it('keeps the last quarter of the places for clients that have none', () => {
  const environment = readEnvironment({ EXPERIMENTS_AT_ONCE: '8' });
  const admission = new Admission(environment, new Limits(environment, { experimentsPerClient: 3 }));
  const leaving = ['a', 'a', 'a', 'b', 'b', 'b'].map((client) => admission.admit(client));
  expect(() => admission.admit('a')).toThrow('3 experiments of this client are under way');
  admission.admit('c');
  expect(() => admission.admit('c')).toThrow('The queue is full: 7 experiments are under way');
  admission.admit('d');
  expect(() => admission.admit('e')).toThrow('The queue is full: 8 experiments are under way');
  for (const leave of leaving) leave();
  admission.admit('c');
  expect(admission.underWay).toBe(3);
});
