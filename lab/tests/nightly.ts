/** `npm run nightly`: the long proofs, one after another. CI runs a short part of each. */
import { runCommands, type Command } from './commands.ts'

/** Twice what the longest one takes on a slow machine: the console in three browsers. */
const EACH_MS = 7_200_000

const PROOFS = [
  'build',
  'lab -- conformance/embeddings',
  'lab -- conformance/images',
  'lab -- conformance/batches',
  'lab -- check/contract',
  'lab -- simulation/money',
  'lab -- simulation/schedule',
  'lab -- simulation/sharing',
  'lab -- check/properties',
  'lab -- check/pglite',
  'lab -- check/vector-types',
  'lab -- check/model-ends',
  'lab -- check/image-drift',
  'lab -- check/drift',
  'lab -- check/families',
  'lab -- check/repair',
  'lab -- check/config-export',
  'lab -- check/config-changes',
  'lab -- check/alerts',
  'lab -- check/ledger-age',
  'lab -- chaos/soak --requests 200000 --rate 300',
  'test:console',
  'lab -- check/docs',
  'lab -- check/recipes',
  // After the docs, so that pages whose blocks ran get their tick.
  'lab -- check/site',
]

const commands = PROOFS.map((script): Command => ({ program: 'npm', args: ['run', ...script.split(' ')] }))
const ended = await runCommands(commands, { atOnce: 1, eachMs: EACH_MS })
const failed = ended.filter(({ isGood }) => !isGood)
for (const { command } of failed) console.log(`failed: ${command.args.slice(1).join(' ')}`)
console.log(`${ended.length - failed.length} passed, ${failed.length} failed`)
process.exitCode = failed.length > 0 ? 1 : 0
