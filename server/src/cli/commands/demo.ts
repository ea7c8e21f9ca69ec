/** `torana demo`: a node with the demo models, whatever is configured here, that leaves nothing behind. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { command } from '../command/command.ts'
import { hearSignals } from '../serve/stop-signals.ts'
import { LISTENER_OPTIONS, variablesIn } from './start.ts'

/** What a demo takes from its environment: nothing that would lead to a provider or to a store. */
const TAKEN = ['PATH', 'HOME', 'TMPDIR', 'PORT', 'HOST', 'CONTROL_PORT', 'CONTROL_HOST', 'LOG_LEVEL']

export const demo = command({
  name: 'demo',
  summary: 'try Torana: demo models, no configuration, nothing left behind',
  options: LISTENER_OPTIONS,
  reach: 'none',
  isPlain: true,
  more: 'It ignores torana.yaml and keys of providers. Its data folder is temporary, and is removed when it ends.',
  examples: ['torana demo', 'torana demo --port 9000 --control-port 9001'],
  async run(call) {
    hearSignals()
    const folder = mkdtempSync(join(tmpdir(), 'torana-demo-'))
    try {
      // Where no torana.yaml is.
      process.chdir(folder)
      const taken = TAKEN.flatMap((name) => {
        const value = process.env[name]
        return value === undefined ? [] : [[name, value]]
      })
      const env = {
        ...Object.fromEntries(taken),
        ...variablesIn(LISTENER_OPTIONS, call.text),
        TORANA_DATA_DIR: folder,
      }
      const { serve } = await import('../serve/serve.ts')
      const note = `Data      ${folder}, removed at the end. For commands: export TORANA_DATA_DIR=${folder}`
      return await serve(env as Record<string, string>, call.out, [note])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
})
