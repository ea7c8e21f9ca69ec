/** `torana/config`: all that other packages of this repository may know of the server. */
export { builtInFacts, embeddingFactsOf, factsOf, modelFactsOf, type Facts } from './build/facts.ts'
export { holdsReference } from './file/interpolate.ts'
export { ConfigError } from './file/problem.ts'
export { parseSource, type Source } from './file/yaml.ts'
export { readConfig } from './load.ts'
export { modelId } from './schema/model.ts'
export { keyForm, MIN_KEY_LENGTH } from '#core/keys/key.ts'
export { HOST_SETTINGS } from '#core/catalog/upstream-address.ts'
