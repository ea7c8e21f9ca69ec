import type { Project } from '#core/catalog/catalog.ts'
import { keyHasher } from '#runtime/secret.ts'
import { MemoryKeys } from '#stores/memory/keys.ts'
import { keyDirectorySuite } from './key-directory.ts'

keyDirectorySuite('memory', async () => {
  const keys = new MemoryKeys(keyHasher('a secret of this test'))
  const replace = async (projects: readonly Project[]): Promise<void> => {
    const change = await keys.prepare(projects, async () => {})
    change()
  }
  return { keys, replace }
})
