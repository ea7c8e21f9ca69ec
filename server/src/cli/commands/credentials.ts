/** `torana credentials …`: secrets that the running node sends to upstreams. */
import { command, group } from '../command/command.ts'
import { listCommand } from './list-command.ts'
import { readSecret } from './secret-input.ts'

const UPSTREAM = { name: '<upstream>', says: 'the name of an upstream' }

const list = listCommand({
  summary: 'list upstreams and the source of their credentials',
  path: '/credentials',
  columns: {
    upstream: 'upstream',
    'base URL': 'base_url',
    'credential from': 'source',
    stored: 'updated_at',
  },
})

const set = command({
  name: 'set',
  summary: 'store the credential of an upstream, read from a file or from standard input',
  arguments: [UPSTREAM],
  options: { 'secret-file': { takes: '<file|->', says: 'the file that holds it (standard input)' } },
  reach: 'node',
  examples: ['torana credentials set openai --secret-file openai.key'],
  async run({ control, given: [upstream = ''], text }) {
    const secret = readSecret(text('secret-file') ?? '-')
    const path = `/credentials/${encodeURIComponent(upstream)}`
    const stored = await control.ask<{ readonly base_url: string }>('PUT', path, { secret })
    const note = `The credential of ${upstream} is stored. Torana sends it to ${stored.base_url} only.`
    return { data: stored, note }
  },
})

const remove = command({
  name: 'delete',
  summary: 'delete the stored credential of an upstream',
  arguments: [UPSTREAM],
  reach: 'node',
  async run({ control, given: [upstream = ''] }) {
    const path = `/credentials/${encodeURIComponent(upstream)}`
    const left = await control.ask('PUT', path, { secret: null })
    return { data: left, note: `The stored credential of ${upstream} is deleted.` }
  },
})

export const credentials = group({
  name: 'credentials',
  summary: 'list, store and delete credentials of upstreams',
  subcommands: [list, set, remove],
})
