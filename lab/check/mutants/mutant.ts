/** A fault that is planted in one place of the code, and the tests that must notice it. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Mutant {
  /** For `--only`. */
  readonly id: string
  /** What the code does with it. */
  readonly says: string
  /** Below `server/src`. */
  readonly file: string
  /** Stands exactly once in the file. */
  readonly old: string
  readonly new: string
  /** Below `server`, with wildcards. */
  readonly tests: readonly string[]
}

/** Paths below the repository. */
export function fileOf({ file }: Mutant): string {
  return join('server/src', file)
}

/** Throws where a pattern finds nothing: a renamed test must not make a mutant survive. */
export function testFilesOf({ id, tests }: Mutant, root: string): readonly string[] {
  return tests.flatMap((pattern) => {
    const files = globSync(join('server', pattern), { cwd: root })
    if (files.length === 0) throw new Error(`${id}: there is no ${pattern}`)
    return files
  })
}

/** The text of the file with the fault in it. */
export function mutatedText(mutant: Mutant, root: string): string {
  const path = fileOf(mutant)
  const parts = readFileSync(join(root, path), 'utf8').split(mutant.old)
  if (parts.length !== 2)
    throw new Error(
      `${mutant.id}: the old text stands ${parts.length - 1} times in ${path}. Adapt the mutant to the code.`,
    )
  return parts.join(mutant.new)
}
