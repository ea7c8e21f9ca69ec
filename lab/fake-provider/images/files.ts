import { setTimeout as delay } from 'node:timers/promises'
import type { Reply } from '../delivery.ts'
import type { Call, Outcome } from '../play.ts'
import type { Scenario } from '../traits.ts'
import type { Pictures } from './pictures.ts'

/** The download of a picture, as from a provider's storage: its address is enough, without a credential. */
export async function fileOutcome(call: Call, scenario: Scenario, pictures: Pictures): Promise<Outcome> {
  if (scenario.has('file-slow-N')) await delay(scenario.amount('file-slow-N'))
  const reply = fileReply(call, scenario, pictures)
  return {
    scenario,
    wire: null,
    question: null,
    image: { operation: 'download' },
    reply,
    served: false,
    ending: 'reply',
  }
}

function fileReply({ method, url }: Call, scenario: Scenario, pictures: Pictures): Reply {
  const text = (status: number, body: string, headers: Record<string, string> = {}) => ({
    status,
    headers: { 'content-type': 'text/plain', ...headers },
    body: Buffer.from(body),
  })
  if (method !== 'GET') return text(405, 'GET is allowed here.')
  const status = scenario.amount('file-status-N')
  if (status !== undefined) return text(status, `Downloads of the scenario answer ${status}.`)
  if (scenario.has('file-redirects') && !url.searchParams.has('redirected')) {
    return text(302, 'Over there.', { location: `${url.pathname}?redirected=1` })
  }
  const sha256 = /\/_file\/([0-9a-f]{64})\.\w+$/.exec(url.pathname)?.[1] ?? ''
  const picture = pictures.find(sha256)
  if (picture === undefined) return text(404, 'There is no such picture, or it has expired.')
  const { content, format } = picture
  const headers = { 'content-type': format === 'text' ? 'image/png' : `image/${format}` }
  if (!scenario.has('file-half')) return { status: 200, headers, body: content }
  const half = content.subarray(0, Math.floor(content.length / 2))
  return {
    status: 200,
    headers: { ...headers, 'content-length': String(content.length) },
    body: half,
    stream: { events: [half], gapMs: 0, cut: true },
  }
}
