/**
 * Loaded into a node before its own code: the chores of the ledger, which a node does every minute or hour, are due every second. Only
 * the pauses change: the proof does not wait for them.
 */
import { registerHooks } from 'node:module'

const CHORES = /\/server\/src\/worker\/ledger\/upkeep[\w-]*\.ts$/
const PAUSE = /^const (\w+_MS) = [\d_* ]+$/gm
const PAUSE_MS = 1000

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!CHORES.test(url)) return loaded
    const text = Buffer.from(loaded.source as Uint8Array).toString()
    const quick = text.replaceAll(PAUSE, (_, name: string) => `const ${name} = ${PAUSE_MS}`)
    if (url.endsWith('/upkeep.ts') && quick === text) throw new Error(`no pause is declared in ${url}`)
    return { ...loaded, source: quick }
  },
})
