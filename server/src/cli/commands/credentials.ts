/** `torana credentials …`: what the running node presents to upstreams. */
import { command, group } from '../command/command.ts'
import { readSecret } from './secret-input.ts'
import { table } from '../command/table.ts'
import { dayText } from './terms.ts'

interface CredentialBody {
  readonly upstream: string
  readonly base_url: string
  readonly source: string
  readonly updated_at: string | null
}

const UPSTREAM = { name: '<upstream>', says: 'the name of an upstream' }

const list = command({
  name: 'list',
  summary: 'list upstreams and the source of their credentials',
  reach: 'node',
  async run({ control }) {
    const { data } = await (await control()).ask<{ data: readonly CredentialBody[] }>('GET', '/credentials')
    return { data, text: listing(data) }
  },
})

const set = command({
  name: 'set',
  summary: 'store the credential of an upstream, read from a file or from standard input',
  arguments: [UPSTREAM],
  options: { 'secret-file': { takes: '<file|->', says: 'the file that it stands in (standard input)' } },
  reach: 'node',
  examples: ['torana credentials set openai --secret-file openai.key'],
  async run({ control, given: [upstream = ''], text }) {
    const secret = readSecret(text('secret-file') ?? '-')
    const path = `/credentials/${encodeURIComponent(upstream)}`
    const stored = await (await control()).ask<CredentialBody>('PUT', path, { secret })
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
    const left = await (await control()).ask<CredentialBody>('PUT', path, { secret: null })
    return { data: left, note: `The stored credential of ${upstream} is deleted.` }
  },
})

export const credentials = group({
  name: 'credentials',
  summary: 'list, store and delete credentials of upstreams',
  subcommands: [list, set, remove],
})

function listing(credentials: readonly CredentialBody[]): string {
  const rows = credentials.map((one) => [one.upstream, one.base_url, one.source, dayText(one.updated_at)])
  return table([['upstream', 'base URL', 'credential from', 'stored'], ...rows])
}
