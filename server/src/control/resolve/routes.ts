/** What an id or a part of a name stands for, for the palette: each type as far as the caller may see it. */
import { z } from 'zod'
import { listModels, upstreamsOf } from '#core/catalog/catalog.ts'
import { may, type Permission } from '#core/access/permission.ts'
import { callerIn, maySee, visibleProjects, type Caller } from '../shared/caller.ts'
import { cursor, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { declaredKeys, placeOf } from '../shared/project-terms.ts'
import { route, type Api } from '../shared/route.ts'
import { hit, hitsOfAudit, hitsOfBatch, hitsOfMembers, hitsOfUuid, type Hit } from './queries.ts'

type ResolveNode = Pick<
  ControlNode,
  | 'reports'
  | 'lake'
  | 'keyStore'
  | 'declaredProjects'
  | 'catalog'
  | 'scheduler'
  | 'clock'
  | 'spaceGuard'
  | 'nameSpace'
>

/** Hits of one answer, as many as a palette shows. */
const MAX_HITS = 12
/** Hits of one type, so that many keys do not hide a model. */
const MAX_HITS_PER_TYPE = 4
/** Projects that are searched by a part of their name. */
const MAX_PROJECTS = 1000

const PERMISSION: Readonly<Record<Hit['type'], Permission>> = {
  request: 'requests.read',
  batch: 'batches.read',
  call: 'requests.read',
  asset: 'assets.read',
  key: 'keys.read',
  project: 'projects.read',
  model: 'models.read',
  deployment: 'deployments.read',
  upstream: 'upstreams.read',
  space: 'spaces.read',
  node: 'nodes.read',
  member: 'members.read',
  audit: 'audit.read',
}

const hitList = z
  .object({ data: z.array(hit), has_more: z.literal(false), next: cursor })
  .meta({ id: 'HitList' })

export function registerResolve(api: Api, node: ResolveNode): void {
  route(api, 'GET /resolve', {
    permission: 'signed-in',
    id: 'resolve',
    summary: `Objects that an id, or a part of a name, refers to: at most ${MAX_HITS}, each type as far as the caller may see it`,
    query: z.object({ q: storable(200).min(1) }),
    answer: hitList,
    handler: async (request) => {
      const caller = callerIn(request)
      const q = request.query.q.trim()
      const hits = [
        ...(await byId(q, caller, node)),
        ...(await keysNamed(q, caller, node)),
        ...(await projectsNamed(q, caller, node)),
        ...inCatalog(q, node),
        ...(may(caller.role, PERMISSION.member) ? await hitsOfMembers(node.reports, q, MAX_HITS) : []),
      ].filter(({ type }) => may(caller.role, PERMISSION[type]))
      const shown = Object.values(Object.groupBy(hits, ({ type }) => type)).flatMap((ofType) =>
        ofType
          .toSorted((one, other) => Number(other.id === q) - Number(one.id === q))
          .slice(0, MAX_HITS_PER_TYPE),
      )
      return { data: shown.slice(0, MAX_HITS), has_more: false as const, next: null }
    },
  })
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
const ASSET = /^[0-9a-f-]{36}-\d+-\d+$/i
const BATCH = /^batch_[0-9a-f]{32}$/
const SEQUENCE = /^#?(\d{1,15})$/

async function byId(q: string, caller: Caller, { reports, lake }: ResolveNode): Promise<Hit[]> {
  const projects = visibleProjects(caller)
  const [id] = UUID.exec(q) ?? []
  if (id === q) return hitsOfUuid(reports, lake.cold, id.toLowerCase(), projects)
  if (id !== undefined && ASSET.test(q)) {
    const found = await hitsOfUuid(reports, lake.cold, id.toLowerCase(), projects)
    return found
      .filter(({ type }) => type === 'request')
      .map((request) => ({ ...request, type: 'asset', title: q }))
  }
  if (BATCH.test(q)) return hitsOfBatch(reports, q, projects)
  const [, sequence] = SEQUENCE.exec(q) ?? []
  return sequence !== undefined && may(caller.role, PERMISSION.audit)
    ? hitsOfAudit(reports, BigInt(sequence))
    : []
}

async function keysNamed(
  q: string,
  caller: Caller,
  { keyStore, declaredProjects }: ResolveNode,
): Promise<Hit[]> {
  const page = { projects: visibleProjects(caller), text: q.replace(/^…/, ''), limit: MAX_HITS }
  const stored = await keyStore.listKeys(page)
  const declared = declaredKeys(declaredProjects()).filter(
    ({ id, project }) => maySee(caller, project) && includes(id, q),
  )
  return [
    ...stored.map(({ id, secrets }) => hitNamed('key', id, secrets[0]?.tail)),
    ...declared.map(({ id, key }) => hitNamed('key', id, placeOf(key.managedAt))),
  ]
}

async function projectsNamed(
  q: string,
  caller: Caller,
  { keyStore, declaredProjects }: ResolveNode,
): Promise<Hit[]> {
  const stored = await keyStore.listProjects({ projects: visibleProjects(caller), limit: MAX_PROJECTS })
  return [...new Set([...stored, ...declaredProjects()].map(({ name }) => name))]
    .filter((name) => maySee(caller, name) && includes(name, q))
    .slice(0, MAX_HITS)
    .map((name) => hitNamed('project', name))
}

function inCatalog(q: string, { catalog, scheduler, clock, spaceGuard, nameSpace }: ResolveNode): Hit[] {
  const models = listModels(catalog())
  const states = new Map(
    scheduler.states(clock.monotonicMs()).map(({ deployment, state }) => [deployment, state]),
  )
  return [
    ...models
      .filter(({ id, aliases }) => [id, ...aliases].some((name) => includes(name, q)))
      .map(({ id, kind, aliases }) => hitNamed('model', id, [kind, ...aliases].join(', '))),
    ...models
      .flatMap(({ deployments }) => deployments.map(({ id }) => id))
      .filter((id) => includes(id, q))
      .map((id) => ({ ...hitNamed('deployment', id, states.get(id)), state: states.get(id) ?? null })),
    ...upstreamsOf(catalog())
      .filter(({ name }) => includes(name, q))
      .map(({ name, baseUrl }) =>
        hitNamed('upstream', name, baseUrl === undefined ? null : new URL(baseUrl).host),
      ),
    ...models.flatMap((model) => {
      const { width } = spaceGuard.referenceOf(model.id) ?? {}
      const title = model.kind === 'embedding' && width !== undefined && nameSpace(model, width)
      return title && includes(title, q) ? [{ ...hitNamed('space', model.id, model.id), title }] : []
    }),
  ]
}

function hitNamed(type: Hit['type'], id: string, note?: string | null): Hit {
  return { type, id, title: id, note: note ?? '', state: null }
}

function includes(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase())
}
