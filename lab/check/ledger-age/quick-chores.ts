/**
 * Loaded into a node before its own code: the chores of the ledger, which a node does every minute or hour, are due every second, and
 * what a dead node held is free as soon. Only the pauses change: the proof does not wait for them.
 */
import { registerHooks } from 'node:module'

/** The files that declare the pauses. Each must have one. */
const FILES = /\/server\/src\/(worker\/ledger\/upkeep|node\/lake|ports\/lake)\.ts$/
const PAUSE = /^((?:export )?const \w+_MS) = [\d_* ]+$/gm
const PAUSE_MS = 1000

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!FILES.test(url)) return loaded
    const text = Buffer.from(loaded.source as Uint8Array).toString()
    const quick = text.replaceAll(PAUSE, (_, name: string) => `${name} = ${PAUSE_MS}`)
    if (quick === text) throw new Error(`no pause is declared in ${url}`)
    return { ...loaded, source: quick }
  },
})
