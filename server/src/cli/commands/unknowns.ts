/** `torana unknowns …`: upstream calls with an unknown outcome, and how to resolve them. */
import { command, group, Misuse } from '../command/command.ts'
import { shownUsd } from './columns.ts'
import { listCommand } from './list-command.ts'
import { numberOf } from './terms.ts'

interface UnknownBody {
  readonly request_id: string
  readonly attempt: number
  readonly reserved_usd: string | null
}

const CALL = { name: '<request id>/<attempt>', says: 'a call, as the list shows it' }

const list = listCommand({
  summary: 'list the calls, oldest first; each counts as spent with its reserved amount',
  path: '/unknowns',
  paging: { perPage: 1000 },
  columns: {
    'request/attempt': ({ request_id: id, attempt }: UnknownBody) => `${id}/${attempt}`,
    requested: 'requested_at',
    key: 'key_id',
    deployment: 'deployment',
    reserved: ({ reserved_usd: usd }) => (usd === null ? 'unpriced' : shownUsd(usd)),
    'posted on': 'posted_at',
    'call id': 'call_id',
  },
  none: 'There are no calls with an unknown outcome.',
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
    const data = await control.ask('POST', pathOf(id), body)
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
    const data = await control.ask('POST', pathOf(id), { action: 'void' })
    return { data, note: `${id} is void.` }
  },
})

export const unknowns = group({
  name: 'unknowns',
  summary: 'list and resolve upstream calls with an unknown outcome',
  subcommands: [list, post, release],
})

function pathOf(target: string): string {
  const [requestId = '', attempt = '', ...rest] = target.split('/')
  if (requestId === '' || attempt === '' || rest.length > 0)
    throw new Misuse(`write an unknown as ${CALL.name}, as the list shows it; got "${target}".`)
  return `/unknowns/${encodeURIComponent(requestId)}/${encodeURIComponent(attempt)}`
}
