/** Snapshots: links to a page as it was, which open without a session and expire. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { may } from '#core/access/permission.ts'
import { Failures } from '#core/limits/failures.ts'
import { networkOf } from '#core/access/client-address.ts'
import { Fault, type FaultCode } from '#core/fault/fault.ts'
import { actorIn, callerIn, visibleProjects } from '../shared/caller.ts'
import { conflict, invalidField } from '../shared/faults.ts'
import { noContent, pageOf, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { secretText } from '../shared/people-fields.ts'
import { route, type Api } from '../shared/route.ts'
import { digestOf, newSecretText } from '../shared/secret-text.ts'
import {
  findSnapshot,
  keepSnapshot,
  listSnapshots,
  revokeSnapshot,
  snapshot,
  snapshotLink,
} from './queries.ts'
import { addressOf, PAGES, PARTS, projectOf, withoutPeople, type SnapshotPage } from './rules.ts'

type SnapshotsNode = Pick<ControlNode, 'reports' | 'transports' | 'clock'>

/** Days that a link works at most: a month's report can be read for a month. */
const MAX_DAYS = 30
/** JSON of one snapshot: a hundred rows and a year of daily figures are a quarter of it. */
const MAX_BYTES = 512 * 1024
/** Openings by one network, wrong links too: 60 at once, then one per second. Each reads up to `MAX_BYTES`, and 256 bits can't be guessed. */
const VIEWS = { burst: 60, refillMs: 1000, maxNames: 10_000 } as const

const snapshotLinks = pageOf(snapshotLink).meta({ id: 'SnapshotLinkList' })

const newSnapshot = z
  .strictObject({
    page: z.enum(PAGES),
    title: storable(100).trim().min(1),
    days: z.int().min(1).max(MAX_DAYS),
    queries: z
      .record(z.string().max(40), storable(2000))
      .describe(
        `By the names of the page's parts (${PAGES.map((page) => `${page}: ${Object.keys(PARTS[page]).join(', ')}`).join('; ')}), the parameters to ask for each with.`,
      ),
  })
  .meta({
    id: 'NewSnapshot',
    examples: [{ page: 'usage', title: 'Cost in November', days: 7, queries: { usage: 'by=model' } }],
  })

const token = z
  .strictObject({ token: secretText })
  .meta({ id: 'SnapshotToken', examples: [{ token: 'the token of the link' }] })

export function registerSnapshots(api: Api, node: SnapshotsNode): void {
  registerMaking(api, node)
  registerLooking(api, node)
}

function registerMaking(api: Api, { reports, transports }: SnapshotsNode): void {
  route(api, 'GET /snapshots', {
    permission: 'signed-in',
    id: 'listSnapshots',
    summary: 'Snapshot links that work, the newest first: your own, and those of all members for an admin',
    answer: snapshotLinks,
    handler: async (request) => {
      const { role, member } = callerIn(request)
      const isAll = may(role, 'members.write')
      const data =
        isAll || member !== undefined ? await listSnapshots(reports, isAll ? undefined : member?.id) : []
      return { data, has_more: false, next: null }
    },
  })

  route(api, 'POST /snapshots', {
    permission: 'signed-in',
    id: 'createSnapshot',
    summary: 'Freeze what a page shows, and make a link that opens it without a session until it expires',
    description: `Torana asks for each part itself, with your rights. Fields about people (user, tags, address) are left out. At most ${MAX_DAYS} days and ${MAX_BYTES / 1024} KiB.`,
    body: newSnapshot,
    answers: { 201: snapshotLink },
    faults: [409],
    handler: async (request, reply) => {
      const { page, title, days, queries } = request.body
      const caller = callerIn(request)
      if (caller.member === undefined)
        throw conflict(
          `${caller.actor} is a token. A snapshot ends with the rights of its maker, who must be a member.`,
        )
      const parts = partsOf(page, queries)
      const project = projectOf(parts.map(({ query }) => query))
      const projects = visibleProjects(caller, project) ?? null
      const content: Record<string, unknown> = {}
      for (const { name, path, query } of parts)
        content[name] = withoutPeople(await answerOf(api, request, addressOf(path, query)))
      const text = JSON.stringify(content)
      if (Buffer.byteLength(text) > MAX_BYTES)
        throw invalidField(
          `This view has ${Math.ceil(Buffer.byteLength(text) / 1024)} KiB, and a snapshot holds ${MAX_BYTES / 1024}. Choose fewer groups or a shorter time.`,
          'queries',
        )
      const secret = newSecretText()
      const made = {
        memberId: caller.member.id,
        digest: digestOf(secret),
        page,
        title,
        projects,
        content: text,
        days,
      }
      const link = await keepSnapshot(reports, made, actorIn(request))
      // Behind the `#`: no server and no proxy logs it.
      return reply.code(201).send({ ...link, link: transports.link(request, `snapshot#${secret}`) })
    },
  })

  route(api, 'DELETE /snapshots/:id', {
    permission: 'signed-in',
    id: 'revokeSnapshot',
    summary: 'Revoke a snapshot link: your own, or any for an admin',
    params: z.object({ id: z.uuid() }),
    answers: { 204: noContent },
    handler: async (request, reply) => {
      const { role, member, actor } = callerIn(request)
      const isAll = may(role, 'members.write')
      if (!isAll && member === undefined) throw conflict(`${actor} is a token, and has no snapshots.`)
      await revokeSnapshot(reports, request.params.id, isAll ? undefined : member?.id, actorIn(request))
      return reply.code(204).send()
    },
  })
}

function registerLooking(api: Api, { reports, transports, clock }: SnapshotsNode): void {
  const views = new Failures(VIEWS, () => clock.monotonicMs())
  route(api, 'POST /snapshots/look', {
    permission: 'anyone',
    id: 'lookAtSnapshot',
    summary: 'What a snapshot link shows. Its token goes into the body, so that no log has it',
    body: token,
    answer: snapshot,
    faults: [404, 429, 503],
    handler: async (request, reply) => {
      const { client } = transports.of(request)
      const waitMs = views.waitMs(networkOf(client))
      if (waitMs > 0)
        throw new Fault(
          'rate_limit_exceeded',
          'Too many snapshots were opened from this address. Try again shortly.',
          {
            retryAfterMs: waitMs,
          },
        )
      views.note(networkOf(client))
      const found = await findSnapshot(reports, digestOf(request.body.token))
      if (found === undefined)
        throw new Fault(
          'link_invalid',
          'This snapshot does not exist, has expired or was revoked. Ask its maker for another one.',
        )
      void reply.header('x-robots-tag', 'noindex')
      return found
    },
  })
}

interface Part {
  readonly name: string
  readonly path: string
  readonly query: string
}

function partsOf(page: SnapshotPage, queries: Readonly<Record<string, string>>): readonly Part[] {
  const unknown = Object.keys(queries).find((name) => !Object.hasOwn(PARTS[page], name))
  if (unknown !== undefined) throw invalidField(`queries.${unknown}: ${page} has no such part.`, 'queries')
  return Object.entries(PARTS[page]).map(([name, path]) => {
    const query = queries[name]
    if (query === undefined) throw invalidField(`queries: the part ${name} of ${page} is missing.`, 'queries')
    return { name, path, query }
  })
}

/** The answer of another route to the same caller: rights, bounds and form are its own. */
async function answerOf(api: Api, { headers, raw }: FastifyRequest, url: string): Promise<unknown> {
  const { 'content-length': _length, 'content-type': _type, 'transfer-encoding': _coding, ...rest } = headers
  const answer = await api.inject({
    method: 'GET',
    url,
    headers: rest,
    remoteAddress: raw.socket.remoteAddress ?? '',
  })
  if (answer.statusCode === 200) return answer.json()
  const { error } = answer.json<{ error: { code: FaultCode; message: string; param: string | null } }>()
  throw new Fault(error.code, error.message, { param: error.param ?? undefined })
}
