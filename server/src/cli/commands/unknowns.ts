/** `torana unknowns …`: calls whose outcome nobody knows yet, and what became of them. */
import { command, group, Misuse } from '../command/command.ts'
import { table } from '../command/table.ts'
import { dayText, numberOf, shownUsd } from './terms.ts'

interface UnknownBody {
  readonly request_id: string
  readonly attempt: number
  readonly call_id: string
  readonly key_id: string
  readonly deployment: string
  readonly reserved_usd: string | null
  readonly requested_at: string
  readonly posted_at: string
}

const CALL = { name: '<request id>/<attempt>', says: 'a call, as the list shows it' }

const list = command({
  name: 'list',
  summary: 'list the calls, oldest first; each counts as spent with its reserved amount',
  reach: 'node',
  async run({ control }) {
    const found = await (
      await control()
    ).list<UnknownBody>('/unknowns', ({ request_id: requestId, attempt }) => `${requestId}/${attempt}`)
    return { data: found, text: listing(found) }
  },
})

const post = command({
  name: 'post',
  summary: 'the call was paid: record this amount, or the reserved amount',
  arguments: [CALL],
  options: {
    usd: { takes: '<dollars>', says: 'what it cost (the reserved amount)' },
    tokens: { takes: '<n>', says: 'the tokens that were billed' },
  },
  reach: 'node',
  async run({ control, given: [id = ''], text }) {
    const usd = text('usd')
    const tokens = text('tokens')
    const body = {
      action: 'post',
      ...(usd !== undefined && { cost_usd: numberOf(usd, '--usd') }),
      ...(tokens !== undefined && { tokens: numberOf(tokens, '--tokens') }),
    }
    const data = await (await control()).ask('POST', pathOf(id), body)
    const amount = usd === undefined ? 'with the reserved amount' : `with $${usd}`
    return { data, note: `${id} is posted ${amount}.` }
  },
})

const release = command({
  name: 'void',
  summary: 'the call was not paid: release the reserved amount',
  arguments: [CALL],
  reach: 'node',
  async run({ control, given: [id = ''] }) {
    const data = await (await control()).ask('POST', pathOf(id), { action: 'void' })
    return { data, note: `${id} is void.` }
  },
})

export const unknowns = group({
  name: 'unknowns',
  summary: 'list and resolve upstream calls with an unknown outcome',
  subcommands: [list, post, release],
})

function listing(unknowns: readonly UnknownBody[]): string {
  if (unknowns.length === 0) return 'There are no calls with an unknown outcome.\n'
  const head = ['request/attempt', 'requested', 'key', 'deployment', 'reserved', 'posted on', 'call id']
  const rows = unknowns.map((unknown) => [
    `${unknown.request_id}/${unknown.attempt}`,
    dayText(unknown.requested_at),
    unknown.key_id,
    unknown.deployment,
    unknown.reserved_usd === null ? 'unpriced' : shownUsd(unknown.reserved_usd),
    dayText(unknown.posted_at),
    unknown.call_id,
  ])
  return table([head, ...rows])
}

function pathOf(target: string): string {
  const [requestId = '', attempt = '', ...rest] = target.split('/')
  if (requestId === '' || attempt === '' || rest.length > 0)
    throw new Misuse(`write an unknown as ${CALL.name}, as the list shows it; got "${target}".`)
  return `/unknowns/${encodeURIComponent(requestId)}/${encodeURIComponent(attempt)}`
}
