/** The one way to change upstreams and models of the store: what a set of changes makes, what is wrong with it, and saving it. */
import type { Model, Upstream } from '#core/catalog/catalog.ts'
import { listModels } from '#core/catalog/catalog.ts'
import { addressOf } from '#core/catalog/upstream-address.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Actor } from '#ports/audit.ts'
import type {
  ChangedObject,
  CredentialStep,
  ExtendedCatalog,
  PreparedChange,
  SavedChange,
  StoredObject,
} from '#ports/stored-configuration.ts'
import {
  applied,
  changedObjects,
  deploymentsIn,
  type Change,
  type ChangeProblem,
} from './configuration-change.ts'
import { summaryOf } from './configuration-summary.ts'
import { conflict, invalidField } from './faults.ts'
import type { ControlNode } from './node.ts'

/** What a set of changes makes. */
export interface Plan {
  readonly objects: readonly ChangedObject[]
  readonly after: readonly StoredObject[]
  readonly extendedBefore: ExtendedCatalog
  readonly extendedAfter: ExtendedCatalog
  readonly problems: readonly ChangeProblem[]
}

type Node = Pick<ControlNode, 'configuration' | 'extendedBy' | 'declaredCatalog' | 'tryUpstream'>

/** Saves all of the changes or none. It rejects with a fault that says what is wrong with them. */
export function saveConfiguration(
  node: Node,
  changes: readonly Change[],
  actor: Actor,
  reverts?: bigint,
): Promise<SavedChange> {
  return node.configuration.change((before) => prepared(node, before, changes, reverts), actor)
}

function prepared(
  node: Node,
  before: readonly StoredObject[],
  changes: readonly Change[],
  reverts: bigint | undefined,
): PreparedChange {
  const plan = planOf(node, before, changes)
  throwFirst(plan.problems)
  if (plan.objects.length === 0) throw invalidField('These changes change nothing.', 'changes')
  return {
    summary: summaryOf(plan.objects),
    objects: plan.objects,
    credentials: credentialSteps(node, plan, changes),
    renamedDeployments: renamedDeployments(plan),
    pricedDeployments: storedDeployments(plan),
    reverts,
  }
}

function throwFirst(problems: readonly ChangeProblem[]): void {
  const stale = problems.find(({ kind }) => kind === 'stale')
  if (stale !== undefined)
    throw new Fault('configuration_changed', stale.text, { param: `${stale.object}s.${stale.name}` })
  const [first] = problems
  if (first === undefined) return
  const text = problems.map((one) => one.text).join('; ')
  throw first.kind === 'conflict' ? conflict(text) : invalidField(text, 'changes')
}

/** Whether these changes could be saved now. */
export function canSave(node: Node, before: readonly StoredObject[], changes: readonly Change[]): boolean {
  const { objects, problems } = planOf(node, before, changes)
  return objects.length > 0 && problems.length === 0
}

export function planOf(node: Node, before: readonly StoredObject[], changes: readonly Change[]): Plan {
  const { after, problems, inUse } = applied(before, changes)
  const objects = changedObjects(before, after, changes)
  const extendedBefore = node.extendedBy(before)
  const extendedAfter = node.extendedBy(after)
  const known = new Set(extendedBefore.problems.map(({ text }) => text))
  const changed = new Set(objects.filter(({ object }) => object === 'upstream').map(({ name }) => name))
  return {
    objects,
    after,
    extendedBefore,
    extendedAfter,
    problems: [
      ...problems,
      ...objects.flatMap((one) => declaredProblems(node, one)),
      ...inUse,
      ...(inUse.length > 0 ? [] : extendedAfter.problems)
        // A changed upstream is made right, or not saved.
        .filter(({ object, name, text }) => !known.has(text) || (object === 'upstream' && changed.has(name)))
        .map((one) => ({ ...one, kind: 'invalid' as const })),
    ],
  }
}

/** The configuration comes first: of its models only deployments on other upstreams can be added. */
function declaredProblems({ declaredCatalog }: Node, one: ChangedObject): readonly ChangeProblem[] {
  const { object, name, renamedFrom, after } = one
  const problem = (text: string): ChangeProblem[] => [{ object, name, kind: 'conflict', text }]
  const { models, upstreams } = declaredCatalog()
  if (object === 'upstream') {
    const at = upstreams?.get(name)?.managedBy ?? 'store'
    return at === 'store' ? [] : problem(`Upstream ${name} is declared at ${at}. Change it there.`)
  }
  const model = models.get(name)
  if (model === undefined || model.managedBy === 'store' || after === null || renamedFrom !== undefined)
    return []
  const others = Object.keys(after).filter((field) => field !== 'deployments')
  if (others.length > 0)
    return problem(
      `Model ${name} is declared at ${model.managedBy}: change ${others.join(', ')} there. Here you can add deployments to it.`,
    )
  const taken = new Set(
    model.deployments.filter(({ managedBy }) => managedBy !== 'store').map(({ upstream }) => upstream.name),
  )
  const twice = deploymentsIn(after).find(({ upstream }) => taken.has(String(upstream)))
  return twice === undefined
    ? []
    : problem(
        `Model ${name} already runs on ${String(twice['upstream'])} by ${model.managedBy}. Change it there.`,
      )
}

function credentialSteps(
  { tryUpstream }: Node,
  { objects }: Plan,
  changes: readonly Change[],
): readonly CredentialStep[] {
  return objects.flatMap((one): CredentialStep[] => {
    const { object, name, renamedFrom, before, after } = one
    if (object !== 'upstream' || after === null) return []
    const tried = tryUpstream(name, after)
    if (!('upstream' in tried)) throw invalidField(tried.problems.join('; '), 'changes')
    const baseUrl = addressOf(tried.upstream)
    const { secret } =
      changes.find((change) => change.object === 'upstream' && change.name === (renamedFrom ?? name)) ?? {}
    return [
      ...(before === null || secret !== undefined
        ? []
        : [{ kind: 'bind' as const, upstream: name, baseUrl }]),
      ...(secret === undefined
        ? []
        : secret === null
          ? [{ kind: 'drop' as const, upstream: name }]
          : [{ kind: 'put' as const, upstream: name, baseUrl, secret }]),
    ]
  })
}

function renamedDeployments({ objects, extendedBefore }: Plan): PreparedChange['renamedDeployments'] {
  return objects.flatMap(({ name: to, renamedFrom }) => {
    if (renamedFrom === undefined) return []
    return listModels(extendedBefore.catalog).flatMap((model) =>
      deploymentsOn(model, renamedFrom).map(({ id }) => {
        const start = `${model.id}/${renamedFrom}`
        return { from: id, to: `${model.id}/${to}${id.slice(start.length)}` }
      }),
    )
  })
}

function deploymentsOn(model: Model, upstream: string) {
  const all: readonly { readonly id: string; readonly upstream: Upstream }[] = model.deployments
  return all.filter((one) => one.upstream.name === upstream)
}

/** Of the changed models: their entries say what they cost. */
function storedDeployments({ objects, extendedAfter }: Plan): readonly string[] {
  const changed = new Set(objects.filter(({ object }) => object === 'model').map(({ name }) => name))
  return listModels(extendedAfter.catalog)
    .filter(({ id }) => changed.has(id))
    .flatMap(({ deployments }) =>
      deployments.filter(({ managedBy }) => managedBy === 'store').map(({ id }) => id),
    )
}
