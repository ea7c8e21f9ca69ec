/** `GET /events`: everything live in a console comes over this one stream, as server-sent events. */
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn, checkAccess, visibleProjects } from '../access/caller.ts'
import { invalidField } from '../wire/faults.ts'
import type { Api } from '../wire/route.ts'
import { StreamSlots } from '../streams/stream-slots.ts'
import type { EventTopic, TopicFeed } from './topic.ts'

/**
 * Topics that all streams of a node have together. Each costs a question a second. Fifty people with the Overview open have
 * three each.
 */
const MOST_TOPICS = 150
/** One caller has at most as many as stay free, so that no one can take the live console from the others. */
const HEADROOM = 1
const BEAT_MS = 1000
/** Below the 30 s after which the most impatient proxies give up on a silent connection. */
const COMMENT_MS = 15_000
/** What a browser waits before it connects again by itself. */
const RETRY_MS = 1000

export interface EventsDependencies {
  readonly topics: readonly EventTopic[]
  /** A topic failed to say what is new. Its stream goes on. */
  readonly onTrouble: (topic: string, error: unknown) => void
}

const eventsQuery = z.looseObject({
  topics: z.string().min(1).max(200).describe('Names, separated by commas.'),
  project: z.string().max(200).optional(),
})

export function registerEvents(api: Api, dependencies: EventsDependencies): void {
  const streams = new StreamSlots({
    slots: MOST_TOPICS,
    headroom: HEADROOM,
    full: ({ actor }) =>
      new Fault(
        'too_many_streams',
        `This node has no room for another live stream of ${actor}: all callers together may follow ${MOST_TOPICS} topics, and one of them at most as many as stay free. Close a console, or use another node.`,
      ),
  })
  api.get('/events', {
    config: { permission: 'signed-in' },
    schema: {
      operationId: 'events',
      summary: 'What happens now, as server-sent events: one stream for all topics that a page shows',
      description:
        'Topics need a permission each: `flows` and `attention` overview.read, `deployment` deployments.read, `request`, `key` and `job` requests.read, `batch` batches.read. A comment comes every 15 s. The stream ends within two seconds of a change of its caller’s rights. Nothing is repeated: after a reconnect, ask for the page again.',
      querystring: eventsQuery,
      response: {
        200: z.string().describe('`text/event-stream`'),
        ...faultAnswers([400, 401, 403, 503]),
      },
    },
    handler: async (request, reply) => {
      const caller = callerIn(request)
      const { topics: asked, project, ...query } = request.query
      const topics = [...new Set(asked.split(','))].map((name) => topicNamed(name, dependencies.topics))
      for (const { permission } of topics) checkAccess(caller, permission, request.method)
      const listener = { caller, projects: visibleProjects(caller, project), query }
      return streams.answer(request, reply, {
        headers: {
          'content-type': 'text/event-stream; charset=utf-8',
          // Some proxies keep an answer to themselves until it ends.
          'x-accel-buffering': 'no',
        },
        slots: topics.length,
        open: (opened) => {
          const feeds = topics.map((topic) => {
            const feed = topic.open(listener)
            opened.defer(() => feed.close?.())
            return { name: topic.name, feed }
          })
          return eventsOf(feeds, dependencies.onTrouble)
        },
      })
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

/** What is new, once a second. A reader that is slow is asked for less: nothing piles up. */
async function* eventsOf(
  feeds: readonly NamedFeed[],
  onTrouble: EventsDependencies['onTrouble'],
): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`
  for (let sinceCommentMs = 0; ; sinceCommentMs += BEAT_MS) {
    const text = await textOf(feeds, onTrouble)
    if (text !== '' || sinceCommentMs >= COMMENT_MS) {
      yield text === '' ? ': still here\n\n' : text
      sinceCommentMs = 0
    }
    await setTimeout(BEAT_MS, undefined, { ref: false })
  }
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
