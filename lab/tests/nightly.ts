/** `npm run nightly`: the long proofs, one after another. CI runs a short part of each. */
import { runCommands, type Command } from './commands.ts'

/** Twice what the longest one takes on a slow machine: the console in three browsers. */
const EACH_MS = 7_200_000

const PROOFS = [
  'build',
  'conformance:embeddings',
  'conformance:images',
  'conformance:batches',
  'walk:contract',
  'simulation:money',
  'simulation:schedule',
  'simulation:sharing',
  'test:properties',
  'test:pglite',
  'test:console',
  'test:docs',
]

const commands = PROOFS.map((script): Command => ({ program: 'npm', args: ['run', script] }))
const ended = await runCommands(commands, { atOnce: 1, eachMs: EACH_MS })
const failed = ended.filter(({ isGood }) => !isGood)
for (const { command } of failed) console.log(`failed: ${command.args[1]}`)
console.log(`${ended.length - failed.length} passed, ${failed.length} failed`)
process.exitCode = failed.length > 0 ? 1 : 0
