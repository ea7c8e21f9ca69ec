/**
 * Families: models that answer in one space. A model joins once its vectors of the family texts agree by rank with those of every
 * model that ever joined the same space, so that all vectors under its name may be compared. One node compares for all; every
 * node follows the store and, while the store is unreachable, what it last knew.
 */
import { listModels, type Catalog, type Deployment, type EmbeddingModel } from '#core/catalog/catalog.ts'
import { agreementOf, disagreementOf } from '#core/embedding/family.ts'
import { FAMILY_TEXTS } from '#core/embedding/family-texts.ts'
import type { MadeVectors } from '#core/embedding/made-vectors.ts'
import { answeringSpace, readSpace, spaceOf, type JoinedFamily } from '#core/embedding/space.ts'
import type { Clock } from '#ports/clock.ts'
import type { FamilyMember, FamilyWitness, SpaceReference, SpaceStore } from '#ports/spaces.ts'
import { every, everyMs, type Repetition } from '../every.ts'
import type { Pulse } from '../pulse.ts'
import { inOrder, type GuardedStanding } from './knowledge.ts'
import { Sequences } from './sequences.ts'

/** Full-width vectors of `FAMILY_TEXTS`. Paid and accounted for like any call. */
type AskFamilyTexts = (model: EmbeddingModel, deployment: Deployment) => Promise<readonly Float32Array[]>

/** `begun`: the family's space is a new one from here on, with this model. */
export interface FamilyAlert extends FamilyMember {
  readonly kind: 'begun' | 'joined' | 'refused' | 'left'
}

export interface FamilyParts {
  readonly store: Pick<SpaceStore, 'familyMembers' | 'familyWitnesses' | 'beginFamily' | 'recordMember'>
  readonly catalog: () => Catalog
  readonly clock: Clock
  readonly ask: AskFamilyTexts
  /** Each model's own space, which a family never replaces. */
  readonly guard: OwnSpaces
  /** Whether this node compares for all. */
  readonly isProber: () => Promise<boolean>
  /** Called only on the node that compared. */
  readonly onAlert: (alert: FamilyAlert) => void
  readonly onTrouble: (error: unknown) => void
  /** `FOLLOW_MS` and `LOOK_MS` unless given. */
  readonly followMs?: number | undefined
  readonly pulse?: Pick<Pulse, 'always' | 'said'> | undefined
  readonly lookMs?: number | undefined
}

interface OwnSpaces {
  referenceOf(model: string): SpaceReference | undefined
  standingOf(deployment: string): Pick<GuardedStanding, 'isQuarantined'> | undefined
  hasLeft(made: MadeVectors): boolean
}

/** A member of a family in the configuration, as it is at present. */
export interface FamilyStanding {
  readonly family: string
  /** Undefined: the family has no space yet. */
  readonly generation: number | undefined
  /** `waiting`: not compared yet, so it answers in its own space, like one that is outside. */
  readonly state: 'joined' | 'outside' | 'waiting'
  readonly isReference: boolean
  readonly last: FamilyMember | undefined
}

type Member = EmbeddingModel & { readonly family: NonNullable<EmbeddingModel['family']> }

/** Interval of reading: a member that leaves does so on every node within this time and one query. */
const FOLLOW_MS = 2000
/** Interval at which due members are noticed. */
const LOOK_MS = 1000
/** Interval of comparisons of a member. Its own probes notice a change within minutes; this is for what they cannot see. */
const COMPARE_EVERY_MS = 24 * 3_600_000
/** Interval of attempts for a model that was not compared: it answers under its own name meanwhile. */
const AGAIN_MS = 60_000

export class SpaceFamilies {
  readonly #parts: FamilyParts
  /** By family. */
  readonly #sequences = new Sequences()
  /** By model; those of a model's earlier generations too. */
  #members: ReadonlyMap<string, readonly FamilyMember[]> = new Map()
  /** When this node asked a model, on the monotonic clock. */
  readonly #tried = new Map<string, number>()
  #hasRead = false
  /** The state of the members, as a heartbeat gave it, before they were last read. */
  #heard: string | undefined
  #loops: readonly Repetition[] = []

  constructor(parts: FamilyParts) {
    this.#parts = parts
  }

  start(): void {
    const { onTrouble, pulse, followMs = FOLLOW_MS, lookMs = LOOK_MS } = this.#parts
    this.#loops = [
      (pulse?.always ?? everyMs(followMs))(() => this.#followNews(), onTrouble),
      every(lookMs, () => this.compareDue(), onTrouble),
    ]
  }

  /** Waits for the comparisons in progress. */
  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()))
    await this.#sequences.ended()
  }

  /** Whether this node knows which models have joined: the store was read once, or there is no family. */
  get hasRead(): boolean {
    return this.#hasRead || membersIn(this.#parts.catalog()).length === 0
  }

  /** Rejects with `StoreUnreachable`; what was known before then stays in force. */
  async follow(heard?: string): Promise<void> {
    const { store, catalog } = this.#parts
    if (membersIn(catalog()).length === 0) return
    this.#members = Map.groupBy(await store.familyMembers(), ({ model }) => model)
    this.#hasRead = true
    this.#heard = heard
  }

  /** Reads the members unless the store says that they are the same. */
  async #followNews(): Promise<void> {
    const heard = this.#parts.pulse?.said('families')
    if (heard === undefined || heard !== this.#heard) await this.follow(heard)
  }

  /** Cheap: it is asked for every request to a member. */
  joinedBy(model: string): JoinedFamily | undefined {
    const last = this.#lastOf(model)
    return last?.isJoined === true ? { name: last.family, generation: last.generation } : undefined
  }

  /** Undefined for a model without a family. */
  standingOf(model: EmbeddingModel): FamilyStanding | undefined {
    if (model.family === undefined) return undefined
    const { name } = model.family
    const last = this.#lastOf(model.id)
    const state = last === undefined ? 'waiting' : last.isJoined ? 'joined' : 'outside'
    const generation = [...this.#members.values()].flat().find(({ family }) => family === name)?.generation
    return { family: name, generation, state, isReference: last?.isReference ?? false, last }
  }

  /**
   * Whether vectors may be of another space than the one whose name they carry. Under the name of a family: its model has left it since,
   * or the family has begun another space, or they would have left the model's own.
   */
  hasLeft(made: MadeVectors): boolean {
    const { guard, catalog } = this.#parts
    const [named, model] = [readSpace(made.space), modelOf(catalog(), made.deployment)]
    const family = model?.family
    if (named === undefined || model === undefined || named.model !== family?.name) return guard.hasLeft(made)
    if (!this.hasRead) return false
    const generation = this.#generationOf(model.id) ?? 1
    const now = answeringSpace(model.id, named.width, generation, this.joinedBy(model.id))
    return (
      now !== named.float || guard.hasLeft({ ...made, space: spaceOf(model.id, named.width, generation) })
    )
  }

  #generationOf(model: string): number | undefined {
    return this.#parts.guard.referenceOf(model)?.generation
  }

  /** A deployment that answers in the model's own space. */
  #servingOf({ deployments }: EmbeddingModel): Deployment | undefined {
    return inOrder(deployments).find(({ id }) => this.#parts.guard.standingOf(id)?.isQuarantined === false)
  }

  /** What the latest comparison says, if it was of the model's present space and in its present family. */
  #lastOf(id: string): FamilyMember | undefined {
    const known = this.#members.get(id)
    if (known === undefined) return undefined
    const model = this.#parts.catalog().models.get(id)
    const family = model?.kind === 'embedding' ? model.family?.name : undefined
    const generation = this.#generationOf(id)
    return known.find((one) => one.family === family && one.modelGeneration === generation)
  }

  /** Compares the models that were not compared yet, or a day ago, if this node does that for all; resolves when it is done. */
  async compareDue(): Promise<void> {
    const due = (): readonly Member[] =>
      membersIn(this.#parts.catalog()).filter((model) => this.#isDue(model))
    if (due().length === 0 || !(await this.#parts.isProber())) return
    const { onTrouble } = this.#parts
    await Promise.all(inTurn(due()).map((member) => this.#compare(member).catch(onTrouble)))
  }

  /** Compares a model now. Nothing happens for a model without a family. */
  async compareNow(model: EmbeddingModel): Promise<void> {
    if (isMember(model)) await this.#compare(model)
  }

  #isDue(model: Member): boolean {
    const { clock } = this.#parts
    if (!this.#hasRead || this.#generationOf(model.id) === undefined || !this.#servingOf(model)) return false
    const triedAgoMs = clock.monotonicMs() - (this.#tried.get(model.id) ?? -Infinity)
    if (triedAgoMs < AGAIN_MS) return false
    const last = this.#lastOf(model.id)
    if (last !== undefined) return Math.abs(clock.nowMs() - last.comparedAtMs) >= COMPARE_EVERY_MS
    // Without a space of the family there is nothing to compare with.
    return model.family.members[0] === model.id || this.standingOf(model)?.generation !== undefined
  }

  #compare(model: Member): Promise<void> {
    const { store, clock, ask, onAlert } = this.#parts
    const { name: family, members } = model.family
    return this.#sequences.add(family, async () => {
      const [modelGeneration, deployment] = [this.#generationOf(model.id), this.#servingOf(model)]
      if (modelGeneration === undefined || deployment === undefined) return
      this.#tried.set(model.id, clock.monotonicMs())
      const comparedAtMs = clock.nowMs()
      const witnesses = await store.familyWitnesses(family)
      const reference = witnesses.find(({ isReference }) => isReference)
      const isBegun = reference !== undefined && members.includes(reference.model)
      if (!isBegun && members[0] !== model.id) return
      const vectors = await ask(model, deployment)
      // Another space was accepted meanwhile, or the deployment has left it: what came is of no use.
      if (this.#generationOf(model.id) !== modelGeneration || !this.#servingOf(model)) return
      const latest = witnesses[0]?.generation ?? 0
      const seen = { family, model: model.id, modelGeneration, deployment: deployment.id, comparedAtMs }
      const result = comparedWith(witnesses, vectors)
      const isReplaced = reference?.model === model.id && reference.modelGeneration !== modelGeneration
      const before = this.#lastOf(model.id)
      if (!isBegun || (isReplaced && before === undefined && !result.isJoined)) {
        const member = { ...seen, ...SAME, generation: latest + 1, isReference: true }
        await store.beginFamily(member, vectors)
        await this.follow()
        onAlert({ kind: 'begun', ...member })
        return
      }
      const member = { ...seen, ...result, generation: latest, isReference: before?.isReference ?? false }
      await store.recordMember(member, vectors, witnesses.length)
      await this.follow()
      const kind = member.isJoined ? 'joined' : before?.isJoined === true ? 'left' : 'refused'
      if (before?.isJoined !== member.isJoined) onAlert({ kind, ...member })
    })
  }
}

type Compared = Pick<FamilyMember, 'isJoined' | 'agreement' | 'found' | 'reason'>

/** The first model of a space agrees with itself. */
const SAME: Compared = { isJoined: true, agreement: 1, found: 1, reason: undefined }

/** The worst agreement with any of them decides. */
function comparedWith(witnesses: readonly FamilyWitness[], vectors: readonly Float32Array[]): Compared {
  let worst: Compared = SAME
  for (const { model, vectors: theirs } of witnesses) {
    const agreement = vectors.length === FAMILY_TEXTS.length ? agreementOf(theirs, vectors) : undefined
    if (agreement === undefined)
      return {
        isJoined: false,
        agreement: undefined,
        found: undefined,
        reason: `its vectors cannot be compared with those of ${model}`,
      }
    const { order, found } = agreement
    const why = disagreementOf(agreement)
    const reason = why === undefined ? undefined : `compared with ${model}, ${why}`
    if (order < (worst.agreement ?? 1) || (worst.isJoined && why !== undefined))
      worst = { isJoined: why === undefined, agreement: order, found, reason }
  }
  return worst
}

/** Found once per catalog: every request asks whether there are any. */
const members = new WeakMap<Catalog, readonly Member[]>()

function membersIn(catalog: Catalog): readonly Member[] {
  const known = members.get(catalog)
  if (known !== undefined) return known
  const found = listModels(catalog).filter(
    (model): model is Member => model.kind === 'embedding' && isMember(model),
  )
  members.set(catalog, found)
  return found
}

/** The model of a deployment. */
function modelOf(catalog: Catalog, deployment: string): EmbeddingModel | undefined {
  return membersIn(catalog).find(({ deployments }) => deployments.some(({ id }) => id === deployment))
}

function isMember(model: EmbeddingModel): model is Member {
  return model.family !== undefined
}

/** In the order in which the family lists them: the first one begins its space. */
function inTurn(members: readonly Member[]): readonly Member[] {
  return members.toSorted(
    (one, other) => one.family.members.indexOf(one.id) - other.family.members.indexOf(other.id),
  )
}
