/** A node whose stores are in memory, for measurements without a ledger. The environment is that of `torana start`. */
import { bindListeners } from '../../server/src/node/listeners.ts'
import { readEnvironment } from '../../server/src/config/environment.ts'
import { readText } from '../../server/src/config/file/variable.ts'
import { startNode } from '../../server/src/main.ts'
import { openMemoryStores } from '../../server/test/support/stores/open.ts'

const settings = readEnvironment(process.env, process.cwd(), readText)
const node = await startNode(settings, process.env, await bindListeners(settings), openMemoryStores)
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => void node.stop().then(() => process.exit()))
