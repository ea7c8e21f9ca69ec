/** `torana key`: a new key, for `projects.<name>.keys` or TORANA_BOOTSTRAP_KEY. */
import { randomBytes } from 'node:crypto'
import { keyFrom } from '#core/keys/key.ts'
import { command } from '../command/command.ts'

export const key = command({
  name: 'key',
  summary: 'print a new random key for torana.yaml or TORANA_BOOTSTRAP_KEY',
  reach: 'none',
  examples: ['export TORANA_BOOTSTRAP_KEY=$(torana key)'],
  async run() {
    const made = keyFrom(randomBytes(64))
    return { data: { key: made }, text: `${made}\n` }
  },
})
