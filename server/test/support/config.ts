import { ConfigError } from '#config/file/problem.ts'

/** What is wrong with a configuration; empty when nothing is. */
export function problemsOf(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}
