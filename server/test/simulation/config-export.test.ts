import { test } from 'node:test'
import { judgeExport } from './config-export.ts'

/** `npm run lab -- check/config-export` tries 1,000 with 1,000 requests each. */
const CONFIGURATIONS = 100
const REQUESTS = 100

test('an exported torana.yaml makes a new installation that means and does the same, and holds no secret', () => {
  for (let seed = 1; seed <= CONFIGURATIONS; seed += 1) judgeExport(seed, REQUESTS)
})
