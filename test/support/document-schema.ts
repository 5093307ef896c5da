import { documentSchemas } from '../../src/experiments/document/document.js';
import { published, type Schema } from '../../src/engine/schema/json-schema.js';

/** The schema of only a document, for an editor or a validator. */
export function documentSchema(title: 'Experiment' | 'CompleteExperiment' = 'Experiment'): Schema {
  const definitions = published(documentSchemas());
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    ...definitions[title],
    $defs: definitions,
  };
}
