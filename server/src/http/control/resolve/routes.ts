/** What an id or a part of a name stands for, for the palette: each type as far as the caller may see it. */
import { z } from 'zod'
import { listModels, type Catalog } from '#core/catalog.ts'
import { may, type Permission } from '#core/permission.ts'
import type { Finder, FoundRow } from '#ports/finder.ts'
import type { KeyStore } from '#ports/key-store.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn, maySee, visibleProjects, type Caller } from '../access/caller.ts'
import { declaredKeys } from '../keys/checks.ts'
import type { KeyDependencies } from '../keys/dependencies.ts'
import { cursor, storable } from '../wire/fields.ts'
import type { Api } from '../wire/route.ts'

export interface ResolveDependencies extends Pick<KeyDependencies, 'keyStore' | 'declared'> {
  readonly catalog: () => Catalog
  /** The state of a deployment as this node sees it. */
  readonly stateOf: (deployment: string) => string | undefined
  readonly spaces: () => readonly { readonly model: string; readonly space: string }[]
  /** Undefined on a node that keeps nothing. */
  readonly finder: Finder | undefined
}

/** As many as a palette shows. */
const MOST = 8

const TYPES = [
  'request',
  'batch',
  'call',
  'key',
  'project',
  'model',
  'deployment',
  'asset',
  'space',
  'node',
  'member',
  'audit',
] as const
type Type = (typeof TYPES)[number]

const hit = z
  .object({
    type: z.enum(TYPES),
    id: z.string().describe('What its page is opened by. Of a call or an asset: the id of its request.'),
    title: z.string(),
    note: z.string(),
    state: z.string().nullable().describe('Of a deployment.'),
  })
  .meta({ id: 'Hit' })
type Hit = z.output<typeof hit>

const PERMISSION: Readonly<Record<Type, Permission>> = {
  request: 'requests.read',
  batch: 'batches.read',
  call: 'requests.read',
  asset: 'assets.read',
  key: 'keys.read',
  project: 'projects.read',
  model: 'models.read',
  deployment: 'deployments.read',
  space: 'spaces.read',
  node: 'nodes.read',
  member: 'members.read',
  audit: 'audit.read',
}

export function registerResolve(api: Api, dependencies: ResolveDependencies): void {
  api.get('/resolve', {
    config: { permission: 'signed-in' },
    schema: {
      operationId: 'resolve',
      summary: `What an id, or a part of a name, stands for: at most ${MOST}, each type as far as the caller may see it`,
      querystring: z.object({ q: storable(200).min(1) }),
      response: {
        200: z
          .object({ data: z.array(hit), has_more: z.literal(false), next: cursor })
          .meta({ id: 'HitList' }),
        ...faultAnswers([400, 401, 403, 503]),
      },
    },
    handler: async (request) => {
      const caller = callerIn(request)
      const q = request.query.q.trim()
      const hits = [
        ...(await byId(q, caller, dependencies)),
        ...(await keysNamed(q, caller, dependencies)),
        ...(await projectsNamed(q, caller, dependencies)),
        ...inCatalog(q, dependencies),
        ...(await membersNamed(q, caller, dependencies)),
      ].filter(({ type }) => may(caller.role, PERMISSION[type]))
      return { data: hits.slice(0, MOST), has_more: false as const, next: null }
    },
  })
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
const ASSET = /^[0-9a-f-]{36}-\d+-\d+$/i
const BATCH = /^batch_[0-9a-f]{32}$/
const SEQUENCE = /^#?(\d{1,15})$/

async function byId(q: string, caller: Caller, { finder }: ResolveDependencies): Promise<Hit[]> {
  if (finder === undefined) return []
  const seen = ({ project }: FoundRow): boolean => project === undefined || maySee(caller, project)
  const [id] = UUID.exec(q) ?? []
  if (id !== undefined && (q.length === id.length || ASSET.test(q))) {
    const found = (await finder.byId(id.toLowerCase())).filter(seen)
    const isAsset = q.length > id.length
    return found
      .filter(({ type }) => !isAsset || type === 'request')
      .map((row) => hitOf(isAsset ? { ...row, type: 'asset' as const, title: q } : row))
  }
  if (BATCH.test(q)) {
    const batch = await finder.batch(q)
    return batch !== undefined && seen(batch) ? [hitOf(batch)] : []
  }
  const [, sequence] = SEQUENCE.exec(q) ?? []
  if (sequence === undefined || !may(caller.role, PERMISSION.audit)) return []
  const entry = await finder.auditEntry(BigInt(sequence))
  return entry === undefined ? [] : [hitOf(entry)]
}

function hitOf({ type, id, title, note }: Omit<FoundRow, 'type'> & { readonly type: Type }): Hit {
  return { type, id, title, note: note.trim(), state: null }
}

async function keysNamed(q: string, caller: Caller, dependencies: ResolveDependencies): Promise<Hit[]> {
  const text = q.replace(/^…/, '')
  const projects = visibleProjects(caller)
  const stored = await dependencies.keyStore.listKeys({ projects, text, limit: MOST })
  const declared = declaredKeys(dependencies)
    .map(({ project, key }) => ({ project, id: `${project}/${key.name}`, at: key.managedAt ?? '' }))
    .filter((key) => maySee(caller, key.project) && includes(key.id, q))
  return [
    ...stored.map(({ id, secrets }) => ({
      type: 'key' as const,
      id,
      title: id,
      note: secrets[0]?.tail ?? '',
      state: null,
    })),
    ...declared.map(({ id, at }) => ({
      type: 'key' as const,
      id,
      title: id,
      note: at.split(/[\\/]/).at(-1) ?? '',
      state: null,
    })),
  ]
}

async function projectsNamed(q: string, caller: Caller, dependencies: ResolveDependencies): Promise<Hit[]> {
  const projects = visibleProjects(caller)
  const stored = await allProjects(dependencies.keyStore, projects)
  const names = new Set([...stored, ...dependencies.declared().map(({ name }) => name)])
  return [...names]
    .filter((name) => maySee(caller, name) && includes(name, q))
    .slice(0, MOST)
    .map((name) => ({ type: 'project', id: name, title: name, note: '', state: null }))
}

/** More projects than this are not searched by a part of their name. */
const MOST_PROJECTS = 1000

async function allProjects(keyStore: KeyStore, projects: readonly string[] | undefined): Promise<string[]> {
  return (await keyStore.listProjects({ projects, limit: MOST_PROJECTS })).map(({ name }) => name)
}

function inCatalog(q: string, { catalog, stateOf, spaces }: ResolveDependencies): Hit[] {
  const models = listModels(catalog())
  const named = models.filter(({ id, aliases }) => includes(id, q) || aliases.some((one) => includes(one, q)))
  const deployments = models.flatMap((model) => model.deployments.map(({ id }) => id))
  return [
    ...named.map(({ id, kind, aliases }) => ({
      type: 'model' as const,
      id,
      title: id,
      note: [kind, ...aliases].join(', '),
      state: null,
    })),
    ...deployments
      .filter((id) => includes(id, q))
      .map((id) => {
        const state = stateOf(id) ?? null
        return { type: 'deployment' as const, id, title: id, note: state ?? '', state }
      }),
    ...spaces()
      .filter(({ space }) => includes(space, q))
      .map(({ model, space }) => ({
        type: 'space' as const,
        id: model,
        title: space,
        note: model,
        state: null,
      })),
  ]
}

async function membersNamed(q: string, caller: Caller, { finder }: ResolveDependencies): Promise<Hit[]> {
  if (finder === undefined || !may(caller.role, PERMISSION.member)) return []
  return (await finder.members(q, MOST)).map(hitOf)
}

function includes(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase())
}
