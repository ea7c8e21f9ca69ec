/** `GET /events`: everything live in a console comes over this one stream, as server-sent events. */
import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn, checkAccess, visibleProjects, type Caller } from '../access/caller.ts'
import { invalidField } from '../wire/faults.ts'
import type { Api } from '../wire/route.ts'
import type { EventTopic, TopicFeed } from './topic.ts'

/** Each costs a question to every topic of it each second. One tab of a console has one. */
const MOST_STREAMS = 50
const BEAT_MS = 1000
/** Below the 30 s after which the most impatient proxies give up on a silent connection. */
const COMMENT_MS = 15_000
/** Where a session has ended, its stream ends as soon as its requests are refused. */
const SESSION_CHECK_MS = 2000
/** What a browser waits before it connects again by itself. */
const RETRY_MS = 1000

export interface EventsDependencies {
  readonly topics: readonly EventTopic[]
  /** Whether the caller's session or token still stands. */
  readonly isSignedIn: (caller: Caller) => Promise<boolean>
  /** A topic could not tell what is new. Its stream goes on. */
  readonly onTrouble: (topic: string, error: unknown) => void
}

const eventsQuery = z.looseObject({
  topics: z.string().min(1).max(200).describe('Names, separated by commas.'),
  project: z.string().max(200).optional(),
})

export function registerEvents(api: Api, dependencies: EventsDependencies): void {
  let streams = 0
  api.get('/events', {
    config: { permission: 'signed-in' },
    schema: {
      operationId: 'events',
      summary: 'What happens now, as server-sent events: one stream for all topics that a page shows',
      description:
        'Topics need a permission each: `flows` and `attention` overview.read, `deployment` deployments.read, `request`, `key` and `job` requests.read, `batch` batches.read. A comment comes every 15 s. Nothing is repeated: after a reconnect, ask for the page anew.',
      querystring: eventsQuery,
      response: {
        200: z.string().describe('`text/event-stream`'),
        ...faultAnswers([400, 401, 403, 503]),
      },
    },
    handler: async (request, reply) => {
      const caller = callerIn(request)
      const { topics: asked, project, ...query } = request.query
      const topics = asked.split(',').map((name) => topicNamed(name, dependencies.topics))
      for (const { permission } of topics) checkAccess(caller, permission, request.method)
      const projects = visibleProjects(caller, project)
      if (streams >= MOST_STREAMS)
        throw new Fault(
          'too_many_streams',
          `This node already serves ${MOST_STREAMS} live streams. Close a console, or use another node.`,
        )
      streams += 1
      const listener = { caller, projects, query }
      const feeds = topics.map((topic) => ({ name: topic.name, feed: topic.open(listener) }))
      reply.hijack()
      reply.raw.once('close', () => (streams -= 1))
      reply.raw.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': request.id,
        // Some proxies keep an answer to themselves until it ends.
        'x-accel-buffering': 'no',
      })
      reply.raw.write(`retry: ${RETRY_MS}\n\n`)
      play(reply.raw, feeds, caller, dependencies)
    },
  })
}

function topicNamed(name: string, topics: readonly EventTopic[]): EventTopic {
  const topic = topics.find((one) => one.name === name)
  if (topic === undefined)
    throw invalidField(
      `There is no topic ${name.slice(0, 40)}. There are ${topics.map((one) => one.name).join(', ')}.`,
      'topics',
    )
  return topic
}

interface NamedFeed {
  readonly name: string
  readonly feed: TopicFeed
}

/** Writes what is new once a second until the reader leaves. A reader that is slow gets less, and nothing piles up. */
function play(
  response: ServerResponse,
  feeds: readonly NamedFeed[],
  caller: Caller,
  { isSignedIn, onTrouble }: EventsDependencies,
): void {
  let timer: NodeJS.Timeout | undefined
  let sinceCommentMs = 0
  let sinceCheckMs = 0
  const beat = async (): Promise<void> => {
    sinceCheckMs += BEAT_MS
    if (sinceCheckMs >= SESSION_CHECK_MS) {
      sinceCheckMs = 0
      if (!(await isSignedIn(caller))) return void response.end()
    }
    if (!response.writableNeedDrain) {
      const text = await textOf(feeds, onTrouble)
      sinceCommentMs = text === '' ? sinceCommentMs + BEAT_MS : 0
      if (text !== '') response.write(text)
      else if (sinceCommentMs >= COMMENT_MS) {
        sinceCommentMs = 0
        response.write(': still here\n\n')
      }
    }
    if (!response.destroyed) timer = setTimeout(next, BEAT_MS).unref()
  }
  const next = (): void => void beat().catch((error: unknown) => response.destroy(error as Error))
  response.once('close', () => {
    clearTimeout(timer)
    for (const { feed } of feeds) feed.close?.()
  })
  next()
}

async function textOf(
  feeds: readonly NamedFeed[],
  onTrouble: EventsDependencies['onTrouble'],
): Promise<string> {
  let text = ''
  for (const { name, feed } of feeds) {
    try {
      for (const data of await feed.news()) text += `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
    } catch (error) {
      onTrouble(name, error)
    }
  }
  return text
}
