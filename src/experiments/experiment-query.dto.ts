import { ResultsQuery, Word } from './results-query.dto.js';

/** The query of POST /api/v2/experiments. None of it is part of an experiment's id. */
export class ExperimentQuery extends ResultsQuery {
  @Word(
    ['true', 'false'],
    'true: checks the experiment, resolves its neurons and says what it costs; nothing is simulated or charged.',
  )
  readonly dry_run?: 'true' | 'false';
}
