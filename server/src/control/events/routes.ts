/** `GET /events`: everything live in a console comes over this one stream, as server-sent events. */
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import { callerIn, checkAccess, visibleProjects } from '../shared/caller.ts'
import { invalidField } from '../shared/faults.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { StreamSlots } from '../shared/stream-slots.ts'
import type { EventTopic, TopicFeed } from '../shared/topic.ts'

/** Topics of all streams of a node together: three for each of fifty people with the Overview open. Each is read every second. */
const MAX_TOPICS = 150
/** One caller has at most as many as stay free, and so cannot take the live console from the others. */
const HEADROOM = 1
const BEAT_MS = 1000
/** Pause between comments on a silent stream: some proxies close a connection after 30 s of silence. */
const COMMENT_MS = 15_000
/** Pause before a browser reconnects. */
const RETRY_MS = 1000

const eventsQuery = z.looseObject({
  topics: z.string().min(1).max(200).describe('Names, separated by commas.'),
  project: z.string().max(200).optional(),
})

type OnFailure = ControlNode['onTopicFailure']

export function registerEvents(
  api: Api,
  { onTopicFailure }: Pick<ControlNode, 'onTopicFailure'>,
  all: () => readonly EventTopic[],
): void {
  const streams = new StreamSlots({
    slots: MAX_TOPICS,
    headroom: HEADROOM,
    full: ({ actor }) =>
      new Fault(
        'too_many_streams',
        `This node has no room for another live stream of ${actor}: all callers together may follow ${MAX_TOPICS} topics, and one of them at most as many as stay free. Close a console, or use another node.`,
      ),
  })
  route(api, 'GET /events', {
    permission: 'signed-in',
    id: 'events',
    summary: 'What happens now, as server-sent events: one stream for all topics that a page shows',
    description:
      'Topics need a permission each: `flows` and `attention` overview.read, `deployment` deployments.read, `request`, `key` and `job` requests.read, `batch` batches.read. A comment comes every 15 s. The stream ends within two seconds of a change of its caller’s rights. Nothing is repeated: after a reconnect, ask for the page again.',
    query: eventsQuery,
    answer: z.string().describe('`text/event-stream`'),
    handler: async (request, reply) => {
      const caller = callerIn(request)
      const { topics: asked, project, ...query } = request.query
      const topics = [...new Set(asked.split(','))].map((name) => topicNamed(name, all()))
      for (const { permission } of topics) checkAccess(caller, permission, request.method)
      const listener = { caller, projects: visibleProjects(caller, project), query }
      return streams.answer(request, reply, {
        headers: {
          'content-type': 'text/event-stream; charset=utf-8',
          // Some proxies buffer an answer until it ends.
          'x-accel-buffering': 'no',
        },
        slots: topics.length,
        open: (opened) => {
          const feeds = topics.map((topic) => {
            const feed = topic.open(listener)
            opened.defer(() => feed.close?.())
            return { name: topic.name, feed }
          })
          return eventsOf(feeds, onTopicFailure)
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

/** What is new, once a second. A slow reader pauses the loop, so nothing accumulates. */
async function* eventsOf(feeds: readonly NamedFeed[], onFailure: OnFailure): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`
  for (let sinceCommentMs = 0; ; sinceCommentMs += BEAT_MS) {
    const text = await textOf(feeds, onFailure)
    if (text !== '' || sinceCommentMs >= COMMENT_MS) {
      yield text === '' ? ': still here\n\n' : text
      sinceCommentMs = 0
    }
    await setTimeout(BEAT_MS, undefined, { ref: false })
  }
}

async function textOf(feeds: readonly NamedFeed[], onFailure: OnFailure): Promise<string> {
  let text = ''
  for (const { name, feed } of feeds) {
    try {
      for (const data of await feed.news()) text += `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
    } catch (error) {
      onFailure(name, error)
    }
  }
  return text
}
