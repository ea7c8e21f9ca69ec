/** `torana credentials …`: what the running node presents to upstreams. */
import type { Output } from './output.ts'
import { table } from './table.ts'
import { dayText } from './terms.ts'
import { readSecret, runVerb, type Verb } from './verbs.ts'

interface CredentialBody {
  readonly upstream: string
  readonly base_url: string
  readonly source: string
  readonly updated_at: string | null
}

const VERBS: Readonly<Record<string, Verb>> = {
  list: {
    takes: '',
    says: 'list upstreams and the source of their credentials',
    target: 'none',
    options: {},
    async run({ control, out }) {
      const { data } = await control.ask<{ data: readonly CredentialBody[] }>('GET', '/credentials')
      out.stdout.write(listing(data))
    },
  },
  set: {
    takes: '<upstream> [--secret-file <file|->]',
    says: 'store the credential of an upstream, read from a file or from standard input',
    target: 'required',
    options: { 'secret-file': { type: 'string' } },
    async run({ control, target, text, out }) {
      const secret = readSecret(text('secret-file') ?? '-')
      const path = `/credentials/${encodeURIComponent(target)}`
      const stored = await control.ask<CredentialBody>('PUT', path, { secret })
      out.stderr.write(`The credential of ${target} is stored. Torana sends it to ${stored.base_url} only.\n`)
    },
  },
  drop: {
    takes: '<upstream>',
    says: 'delete the stored credential of an upstream',
    target: 'required',
    options: {},
    async run({ control, target, out }) {
      await control.ask('PUT', `/credentials/${encodeURIComponent(target)}`, { secret: null })
      out.stderr.write(`The stored credential of ${target} is deleted.\n`)
    },
  },
}

export function run(argv: string[], out: Output): Promise<number> {
  return runVerb('credentials', VERBS, argv, out)
}

function listing(credentials: readonly CredentialBody[]): string {
  const rows = credentials.map((one) => [one.upstream, one.base_url, one.source, dayText(one.updated_at)])
  return table([['upstream', 'base URL', 'credential from', 'stored'], ...rows])
}
