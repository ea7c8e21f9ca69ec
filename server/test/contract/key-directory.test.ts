import { keyHasher } from '#runtime/secret.ts'
import { MemoryKeys } from '#stores/memory/keys.ts'
import { keyDirectorySuite } from './key-directory.ts'

keyDirectorySuite('memory', async () => {
  const keys = new MemoryKeys(keyHasher('a secret of this test'))
  return { keys, replace: (projects) => keys.replace(projects) }
})
