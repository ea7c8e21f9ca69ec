/** `npm run lab -- check/mutants`: all; `--only M17,M20`; `--jobs 2`: copies that are tried at the same time. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Workplace } from '../../workplace.ts'
import { copyCheckout } from './copy.ts'
import { fileOf, mutatedText, testFilesOf, type Mutant } from './mutant.ts'
import { MUTANTS } from './mutants.ts'
import { runTests } from './run.ts'

const ROOT = join(import.meta.dirname, '../../..')

const { values } = parseArgs({
  options: { only: { type: 'string' }, jobs: { type: 'string', default: '1' } },
})
const only = values.only?.split(',')
const unknown = only?.filter((id) => MUTANTS.every((mutant) => mutant.id !== id)) ?? []
if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}`)
const chosen = MUTANTS.filter(({ id }) => only === undefined || only.includes(id))

/** Undefined: a test failed. */
async function tryMutant(mutant: Mutant, folder: string): Promise<string | undefined> {
  const path = join(folder, fileOf(mutant))
  const before = readFileSync(path, 'utf8')
  try {
    writeFileSync(path, mutatedText(mutant, folder))
    const { failed, broken, seconds } = await runTests(testFilesOf(mutant, folder), folder)
    const [first] = failed
    const end = first === undefined ? (broken ?? 'SURVIVED') : `killed by: ${first}`
    console.log(`${mutant.id} ${seconds.toFixed(1).padStart(5)} s  ${mutant.says}\n    ${end}`)
    return first === undefined ? end : undefined
  } catch (error) {
    const { message } = error as Error
    console.log(`${mutant.id} not tried: ${message}`)
    return message
  } finally {
    writeFileSync(path, before)
  }
}

await using workplace = new Workplace('mutants')
const folders = Array.from({ length: Number(values.jobs) }, (_, job) => join(workplace.folder, `copy-${job}`))
for (const folder of folders) {
  mkdirSync(folder)
  copyCheckout(ROOT, folder)
}

const [first = ''] = folders
const all = [...new Set(chosen.flatMap((mutant) => testFilesOf(mutant, ROOT)))]
const sound = await runTests(all, first)
console.log(`${all.length} files of tests without a mutant: ${sound.seconds.toFixed(1)} s`)
if (sound.failed.length > 0 || sound.broken !== undefined)
  throw new Error(`they must pass: ${sound.broken ?? sound.failed.join('; ')}`)

const left = [...chosen]
const survivors: string[] = []
const work = async (folder: string): Promise<void> => {
  for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
    const why = await tryMutant(mutant, folder)
    if (why !== undefined) survivors.push(`${mutant.id} ${mutant.says} (${fileOf(mutant)}): ${why}`)
  }
}
await Promise.all(folders.map(work))

if (survivors.length > 0) console.log(`\nno test noticed:\n${survivors.join('\n')}`)
console.log(`\n${chosen.length - survivors.length} passed, ${survivors.length} failed`)
process.exitCode = survivors.length > 0 ? 1 : 0
