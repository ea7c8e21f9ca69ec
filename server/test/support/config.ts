import { builtInFacts } from '#config/build/facts.ts'
import { readConfig } from '#config/load.ts'
import type { Catalog } from '#core/catalog/catalog.ts'
import { ConfigError } from '#config/file/problem.ts'

/** The problems of a configuration; empty when there are none. */
export function problemsOf(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

/** The catalog of a configuration without variables. */
export function catalogOf(text: string): Catalog {
  const surroundings = {
    env: {},
    readFile: () => '',
    facts: builtInFacts(),
    bootstrapKey: undefined,
    nowMs: Date.now(),
  }
  return readConfig('torana.yaml', text, surroundings).catalog
}
